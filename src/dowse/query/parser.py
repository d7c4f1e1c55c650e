"""The parser of the query language: text to AST.

Words next to each other are ranking words. Filters of one name mean "one of these", different filters "all of
these". AND binds tighter than OR, and both bind tighter than juxtaposition, so `lang:py OR lang:go cookie`
means `(lang:py OR lang:go) cookie`. Words under AND, OR or NOT are conditions; all words of a group under an
operator are required.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dowse.errors import QueryError
from dowse.query.ast import (
    And,
    Clause,
    Constraint,
    KindFilter,
    LangFilter,
    Leaf,
    Not,
    Or,
    PathFilter,
    Phrase,
    Query,
    Regex,
    RepoFilter,
    SymFilter,
    Word,
    WordConstraint,
    conjunction,
    disjunction,
    leaves,
    merge_filters,
    negation,
)
from dowse.query.languages import KINDS, LANGUAGE_ALIASES, LANGUAGES, canonical_language, filter_languages
from dowse.query.lexer import (
    OPERATORS,
    TRAILING,
    Token,
    is_code_word,
    suggestion,
    tokenize,
    unclosed_parenthesis,
)

# Far below Python's recursion limit, far above what people nest.
MAX_DEPTH = 50
# Long enough for a pasted stack trace; keeps a hostile query from costing more than a large file.
MAX_LENGTH = 10_000
# Names that an error lists: all kinds, and all languages with a grammar.
_MAX_LISTED = len(LANGUAGES)
_BACKTICKED = re.compile(r"`([^`\s]+)`")
# Characters with a meaning in the query language.
_SYNTAX = str.maketrans(dict.fromkeys('"/():`-', " "))
_CASE_CONTRADICTION = "case:yes and case:no contradict each other; keep one"


def parse_query(text: str) -> Query:
    """Parse a query.

    Raises:
        QueryError: with the position and the remedy, if the text is not a valid query.
    """
    parser = _Parser(text)
    query = Query(parser.parse(), parser.case, text)
    _reject_contradictions(query, parser.positions)
    return query


def narrow(query: Query, filters: str) -> Query:
    """Add the conditions of filters that are given apart from the query, e.g. by flags.

    Raises:
        QueryError: if they are invalid or contradict the query.
    """
    if not filters.strip():
        return query
    parser = _Parser(filters)
    added = Query(parser.parse(only_case=True), parser.case)
    if added.case is not None and query.case not in (None, added.case):
        raise QueryError(_CASE_CONTRADICTION, 0)
    case = query.case if added.case is None else added.case
    # As one condition: next to the query's own filters they would be alternatives.
    constraint = added.constraint
    if constraint is not None and not isinstance(constraint, And):
        constraint = And((constraint,))
    conditions = () if constraint is None else (constraint,)
    words = (clause for clause in added.clauses if isinstance(clause, Word))
    narrowed = Query((*query.clauses, *words, *conditions), case, query.source)
    _reject_contradictions(narrowed, {})
    return narrowed


def plain_query(text: str) -> Query:
    """Return a query for the words of a pasted text, without any syntax; only the start of a long one counts.

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


@dataclass(frozen=True, slots=True)
class _Group:
    """Items next to each other, whose meaning depends on the operator around them."""

    items: tuple[_Item, ...]


_Item = Clause | _Group


class _Parser:
    """A recursive-descent parser over the tokens of one query."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_LENGTH:
            raise QueryError(f"the query is longer than {MAX_LENGTH} characters; shorten it", MAX_LENGTH)
        self.tokens = list(tokenize(text))
        self.length = len(text)
        self.index = 0
        self.depth = 0
        self.case: bool | None = None
        self.positions: dict[Leaf, int] = {}  # for errors about contradictions

    def parse(self, *, only_case: bool = False) -> tuple[Clause, ...]:
        """Parse the whole query; one with nothing but case: is an error unless `only_case`."""
        if not self.tokens:
            raise QueryError("the query is empty; type what to look for", 0)
        group = self.parse_items()
        if token := self.peek():
            position = token.position
            raise QueryError(
                f"the ) at position {position} closes nothing; remove it, or quote text that holds it",
                position,
            )
        clauses = tuple(_flatten(group))
        if not clauses and not only_case:
            raise QueryError("the query has no words or filters besides case:; say what to look for", 0)
        return clauses

    def peek(self) -> Token | None:
        """Return the next token."""
        return self.tokens[self.index] if self.index < len(self.tokens) else None

    def parse_items(self) -> _Group:
        """Parse items up to the end of the group."""
        items: list[_Item] = []
        while (token := self.peek()) and token.kind != ")":
            if token.kind == "filter" and token.name == "case":
                self.parse_case(token)
            else:
                items.append(self.parse_or())
        return _Group(tuple(items))

    def parse_case(self, token: Token) -> None:
        """Parse case:yes or case:no, which applies to the whole query."""
        self.index += 1
        following = self.peek()
        if self.depth or (following and following.kind == "operator"):
            raise _misplaced_case(token)
        value = {"yes": True, "no": False}.get(token.text.lower())
        if value is None:
            raise QueryError(
                f"case: is yes or no, not {_shorten(token.text)}; write case:yes or case:no", token.position
            )
        if self.case is not None and self.case != value:
            raise QueryError(_CASE_CONTRADICTION, token.position)
        self.case = value

    def parse_or(self) -> _Item:
        """Parse `a OR b`."""
        return self.parse_operands("OR", self.parse_and, disjunction)

    def parse_and(self) -> _Item:
        """Parse `a AND b`, which binds tighter than OR."""
        return self.parse_operands("AND", self.parse_unary, conjunction)

    def parse_operands(
        self,
        operator: str,
        parse_operand: Callable[[], _Item],
        join: Callable[[list[Constraint]], Constraint],
    ) -> _Item:
        """Parse operands joined by one operator."""
        items = [parse_operand()]
        while (token := self.peek()) and token.kind == "operator" and token.text == operator:
            self.index += 1
            items.append(parse_operand())
        return items[0] if len(items) == 1 else join([_to_constraint(item) for item in items])

    def parse_unary(self) -> _Item:
        """Parse NOT x, -x, a group or a leaf."""
        token = self.peek()
        if token is None or token.kind in (")", "operator"):
            raise self.missing_operand(token)
        self.index += 1
        if token.kind in ("not", "("):
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise QueryError(f"nested more than {MAX_DEPTH} deep; simplify the query", token.position)
            is_not = token.kind == "not"
            item = negation(_to_constraint(self.parse_unary())) if is_not else self.parse_group(token)
            self.depth -= 1
            return item
        leaf = self.parse_leaf(token)
        self.positions[WordConstraint(leaf) if isinstance(leaf, Word) else leaf] = token.position
        return leaf

    def missing_operand(self, token: Token | None) -> QueryError:
        """Return the error for AND, OR or NOT without an operand."""
        before = self.tokens[self.index - 1] if self.index else None
        culprit = before if before and before.kind in ("operator", "not") else token
        name = culprit.text if culprit else "the operator"
        position = culprit.position if culprit else self.length
        return QueryError(
            f"{name} at position {position} needs something on each side that it joins; "
            f'add it, or write "{name.lower()}" in lower case as a plain word',
            position,
        )

    def parse_group(self, opening: Token) -> _Item:
        """Parse the rest of a parenthesis."""
        position = opening.position
        group = self.parse_items()
        if self.peek() is None:
            raise unclosed_parenthesis(position)
        self.index += 1
        if not group.items:
            raise QueryError(f"empty parentheses at position {position}; fill them or quote them", position)
        return group.items[0] if len(group.items) == 1 else group

    def parse_leaf(self, token: Token) -> Word | Leaf:
        """Return a token as a word, phrase, regex or filter."""
        if token.kind == "word":
            return Word(token.text, token.flag)
        if token.kind == "phrase":
            return Phrase(token.text)
        if token.kind == "regex":
            return _checked_regex(token)
        if token.name == "lang":
            languages = filter_languages()
            language = canonical_language(token.text, languages)
            return LangFilter(language or _checked_choice(token, languages))
        if token.name == "kind":
            return KindFilter(_checked_choice(token, KINDS))
        if token.name == "case":
            raise _misplaced_case(token)
        if not token.text.strip():
            raise QueryError(f"{token.name}: needs a value; write one after the colon", token.position)
        if token.name == "sym":
            return SymFilter(token.text)
        return PathFilter(token.text) if token.name == "path" else RepoFilter(token.text)


def _checked_regex(token: Token) -> Regex:
    """Return a regex leaf; errors have their position in the whole query."""
    from dowse.query.regex.parser import parse_regex

    try:
        parse_regex(token.text)
    except QueryError as problem:
        raise problem.shifted(token.position + 1) from None
    return Regex(token.text, token.flag)


def _checked_choice(token: Token, known: tuple[str, ...]) -> str:
    """Return the value of a filter if it is known; the error lists the known values."""
    value = token.text.lower()
    if value in known:
        return value
    nearest = suggestion(value, (*known, *LANGUAGE_ALIASES) if token.name == "lang" else known)
    hint = f"did you mean {token.name}:{nearest}? " if nearest else ""
    more = f" and {len(known) - _MAX_LISTED} more" if len(known) > _MAX_LISTED else ""
    listed = ", ".join(known[:_MAX_LISTED]) + more
    raise QueryError(f"unknown {token.name}:{_shorten(token.text)} ({hint}known: {listed})", token.position)


def _shorten(value: str) -> str:
    """Shorten a user's value so that an error stays one readable line."""
    return (" ".join(value.split()))[:40]


def _misplaced_case(token: Token) -> QueryError:
    return QueryError(
        "case: holds for the whole query; write case:yes or case:no once, outside parentheses, "
        "without AND, OR, NOT or -",
        token.position,
    )


def _flatten(group: _Group) -> Iterable[Clause]:
    """Yield the items of a group that is under no operator, and those of its groups."""
    for item in group.items:
        if isinstance(item, _Group):
            yield from _flatten(item)
        else:
            yield item


def _to_constraint(item: _Item) -> Constraint:
    if isinstance(item, Word):
        return WordConstraint(item)
    if isinstance(item, _Group):
        return conjunction(merge_filters([_to_constraint(inner) for inner in item.items]))
    return item


def _reject_contradictions(query: Query, positions: dict[Leaf, int]) -> None:
    if query.constraint is None:
        return
    parts = query.constraint.parts if isinstance(query.constraint, And) else (query.constraint,)
    excluded = [part.part for part in parts if isinstance(part, Not)]
    required = [*parts, *(WordConstraint(clause) for clause in query.clauses if isinstance(clause, Word))]
    for part in excluded:
        if part in required:
            position = max((positions.get(leaf, 0) for leaf in leaves(part)), default=0)
            raise QueryError("the query asks for something and excludes it; drop one of the two", position)
    _reject_empty_choice("lang", LangFilter, required, excluded, positions)
    _reject_empty_choice("kind", KindFilter, required, excluded, positions)


def _reject_empty_choice(
    name: str,
    filter_type: type[LangFilter] | type[KindFilter],
    required: list[Constraint],
    excluded: list[Constraint],
    positions: dict[Leaf, int],
) -> None:
    """Raise if no value is left for a filter of which each symbol has one value."""
    left: set[Leaf] | None = None
    for part in required:
        options = part.parts if isinstance(part, Or) else (part,)
        chosen: set[Leaf] = {option for option in options if isinstance(option, filter_type)}
        if len(chosen) == len(options):
            left = chosen if left is None else left & chosen
    if left is not None and not left - set(excluded):
        of_type = (position for leaf, position in positions.items() if isinstance(leaf, filter_type))
        raise QueryError(
            f"no symbol can satisfy all {name}: filters together; keep one, or join them with OR",
            max(of_type, default=0),
        )
