"""Renders a query as text in a canonical form that parses to an equal query."""

from __future__ import annotations

import re

from dowse.query.ast import (
    And,
    Clause,
    Constraint,
    KindFilter,
    LangFilter,
    Not,
    Or,
    PathFilter,
    Phrase,
    Query,
    Regex,
    RepoFilter,
    Word,
    WordConstraint,
)
from dowse.query.lexer import Token, tokenize

_BARE_VALUE = re.compile(r'[^\s"()\\]+\Z')


def render_query(query: Query) -> str:
    """Return a query as text."""
    pieces = [_clause(clause) for clause in query.clauses]
    if query.case is not None:
        pieces.append("case:yes" if query.case else "case:no")
    return " ".join(pieces)


def _clause(clause: Clause) -> str:
    """Write a top-level clause; a lone word would be soft, so a demanded one is joined with itself."""
    if isinstance(clause, Word):
        return _word(clause)
    if isinstance(clause, WordConstraint):
        return f"({_word(clause.word)} AND {_word(clause.word)})"
    return _constraint(clause)


def _constraint(node: Constraint) -> str:
    """Write a condition."""
    if isinstance(node, And | Or):
        operator = " AND " if isinstance(node, And) else " OR "
        return f"({operator.join(map(_constraint, node.parts))})"
    if isinstance(node, Not):
        return f"NOT {_constraint(node.part)}"
    if isinstance(node, WordConstraint):
        return _word(node.word)
    if isinstance(node, Phrase):
        return _quote(node.text)
    if isinstance(node, Regex):
        return f"/{_escaped_slashes(node.pattern)}/{'i' if node.ignore_case else ''}"
    if isinstance(node, LangFilter):
        return f"lang:{_value(node.language)}"
    if isinstance(node, KindFilter):
        return f"kind:{_value(node.kind)}"
    name = "path" if isinstance(node, PathFilter) else "repo" if isinstance(node, RepoFilter) else "sym"
    return f"{name}:{_value(node.glob)}"


def _word(word: Word) -> str:
    """Write a word, in backticks if it would not be read as the same word without."""
    try:
        tokens = list(tokenize(word.text))
    except ValueError:
        tokens = []
    same = tokens == [Token("word", word.text, 0, flag=word.identifier)]
    return word.text if same else f"`{word.text}`"


def _value(text: str) -> str:
    """Write a filter's value, quoted if need be."""
    return text if _BARE_VALUE.match(text) else _quote(text)


def _quote(text: str) -> str:
    """Write text in quotes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _escaped_slashes(pattern: str) -> str:
    """Escape the slashes of a regex, passing over what is escaped already."""
    return re.sub(r"\\.|/", lambda found: "\\/" if found[0] == "/" else found[0], pattern, flags=re.DOTALL)
