"""Plain text as a query: a pasted sentence, the subject of a commit, the task of an agent."""

from __future__ import annotations

import re

from dowse.query.ast import Query, Word
from dowse.query.errors import QueryError
from dowse.query.lexer import OPERATORS, TRAILING, is_code_word
from dowse.query.parser import MAX_LENGTH

_BACKTICKED = re.compile(r"`([^`\s]+)`")
# Characters with a meaning in the query language.
_SYNTAX = str.maketrans(dict.fromkeys('"/():`-', " "))


def plain_query(text: str) -> Query:
    """Return a query for the words of a text, without any syntax; only the start of a long text counts.

    Raises:
        QueryError: if it has no words.
    """
    words = [word.rstrip(TRAILING) for word in plain_words(text[:MAX_LENGTH])]
    names = set(_BACKTICKED.findall(text))
    clauses = tuple(
        Word(word, word in names or is_code_word(word)) for word in words if word and word not in OPERATORS
    )
    if not clauses:
        raise QueryError("there are no words in the text; type what to look for", 0)
    return Query(clauses, source=text)


def plain_words(text: str) -> list[str]:
    """Split a text at white space and at the syntax of the query language."""
    return text.translate(_SYNTAX).split()
