"""The query language: one string in, words and constraints out.

Words next to each other are ranking words. Filters of one name mean "one of these", different filters "all of
these". AND binds tighter than OR, and both bind tighter than standing side by side, so
`lang:py OR lang:go cookie` reads `(lang:py OR lang:go) cookie`. Words under AND, OR or NOT are conditions;
words side by side in a group under an operator are all demanded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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
from dowse.query.errors import QueryError
from dowse.query.languages import KINDS, LANGUAGE_ALIASES, LANGUAGES, PLAIN_LANGUAGES, canonical_language
from dowse.query.lexer import Token, suggestion, tokenize

# Far below Python's recursion limit, far above what a person nests.
MAX_DEPTH = 50
# Long enough for a pasted stack trace; keeps a hostile query from costing more than a large file.
MAX_LENGTH = 10_000
# Names an error lists: all kinds, and all languages with a grammar.
MAX_SHOWN = len(LANGUAGES)


def parse_query(text: str, *, languages: Iterable[str] = (*LANGUAGES, *PLAIN_LANGUAGES)) -> Query:
    """Parse a query.

    Args:
        text: What the user typed.
        languages: Canonical names that lang: accepts, besides their aliases and file extensions.

    Raises:
        QueryError: with the position and the remedy, if the text has no clear meaning.
    """
    parser = _Parser(text, tuple(languages))
    query = Query(parser.parse(), parser.case, text)
    _refuse_contradictions(query, parser.places)
    return query


def narrow(query: Query, filters: str) -> Query:
    """Add conditions said apart from the query, e.g. by flags; all of them must hold too.

    Raises:
        QueryError: also if they contradict the query.
    """
    if not filters.strip():
        return query
    case = query.case
    more: tuple[Clause, ...] = ()
    parser = _Parser(filters, (*LANGUAGES, *PLAIN_LANGUAGES))
    added = Query(parser.parse(only_case=True), parser.case)
    if added.case is not None:
        if case not in (None, added.case):
            raise QueryError("case:yes and case:no contradict each other; keep one", 0)
        case = added.case
    if added.constraint is not None:
        # As one condition: beside the query's own filters they would be alternatives.
        more = (added.constraint if isinstance(added.constraint, And) else And((added.constraint,)),)
    words = (clause for clause in added.clauses if isinstance(clause, Word))
    both = Query((*query.clauses, *words, *more), case, query.source)
    _refuse_contradictions(both, {})
    return both


@dataclass(frozen=True, slots=True)
class _Group:
    """Things side by side, whose meaning depends on what stands around them."""

    items: tuple[_Item, ...]


_Item = Clause | _Group


class _Parser:
    """A recursive-descent parser over the tokens of one query."""

    def __init__(self, text: str, languages: tuple[str, ...]) -> None:
        if len(text) > MAX_LENGTH:
            raise QueryError(f"the query is longer than {MAX_LENGTH} characters; shorten it", MAX_LENGTH)
        self.tokens = list(tokenize(text))
        self.length = len(text)
        self.languages = languages
        self.at = 0
        self.depth = 0
        self.case: bool | None = None
        self.places: dict[Leaf, int] = {}  # for errors about contradictions

    def parse(self, *, only_case: bool = False) -> tuple[Clause, ...]:
        """Parse everything; a lone case: asks for nothing, unless it comes on top of something."""
        if not self.tokens:
            raise QueryError("the query is empty; type what to look for", 0)
        group = self.side_by_side()
        if self.at < len(self.tokens):
            place = self.tokens[self.at].position
            raise QueryError(
                f"the ) at position {place} closes nothing; remove it, or quote text that holds it", place
            )
        clauses = tuple(_flattened(group))
        if not clauses and not only_case:
            raise QueryError("the query has no words or filters besides case:; say what to look for", 0)
        return clauses

    def peek(self) -> Token | None:
        """Return the next token."""
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def side_by_side(self) -> _Group:
        """Parse items up to the end of the group."""
        items: list[_Item] = []
        while (token := self.peek()) and token.kind != ")":
            if token.kind == "filter" and token.name == "case":
                self.set_case(token)
            else:
                items.append(self.alternatives())
        return _Group(tuple(items))

    def set_case(self, token: Token) -> None:
        """Take case:yes or case:no, which holds for the whole query."""
        self.at += 1
        following = self.peek()
        if self.depth or (following and following.kind == "operator"):
            raise _misplaced_case(token)
        value = {"yes": True, "no": False}.get(token.text.lower())
        if value is None:
            raise QueryError(
                f"case: is yes or no, not {_shown(token.text)}; write case:yes or case:no", token.position
            )
        if self.case is not None and self.case != value:
            raise QueryError("case:yes and case:no contradict each other; keep one", token.position)
        self.case = value

    def alternatives(self) -> _Item:
        """Parse a OR b."""
        return self.operated("OR")

    def operated(self, operator: str) -> _Item:
        """Parse operands joined by one operator; AND binds tighter than OR."""
        items = [self.operand(operator)]
        while (token := self.peek()) and token.kind == "operator" and token.text == operator:
            self.at += 1
            items.append(self.operand(operator))
        if len(items) == 1:
            return items[0]
        demanded = [_demanded(item) for item in items]
        return conjunction(demanded) if operator == "AND" else disjunction(demanded)

    def operand(self, operator: str) -> _Item:
        """Parse what an operator joins."""
        return self.operated("AND") if operator == "OR" else self.unary()

    def unary(self) -> _Item:
        """Parse NOT x, -x, a group or a leaf."""
        token = self.peek()
        if token is None or token.kind in (")", "operator"):
            raise self.missing_operand(token)
        self.at += 1
        if token.kind in ("not", "("):
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise QueryError(f"nested more than {MAX_DEPTH} deep; simplify the query", token.position)
            item = negation(_demanded(self.unary())) if token.kind == "not" else self.group(token)
            self.depth -= 1
            return item
        leaf = self.leaf(token)
        self.places[WordConstraint(leaf) if isinstance(leaf, Word) else leaf] = token.position
        return leaf

    def missing_operand(self, token: Token | None) -> QueryError:
        """Say that AND, OR or NOT lacks a side."""
        before = self.tokens[self.at - 1] if self.at else None
        culprit = before if before and before.kind in ("operator", "not") else token
        name = culprit.text if culprit else "the operator"
        place = culprit.position if culprit else self.length
        return QueryError(
            f"{name} at position {place} needs something on each side that it joins; "
            f'add it, or write "{name.lower()}" in lower case as a plain word',
            place,
        )

    def group(self, opening: Token) -> _Item:
        """Parse the rest of a parenthesis."""
        place = opening.position
        group = self.side_by_side()
        if self.peek() is None:
            raise QueryError(
                f"the ( at position {place} is never closed; close it, or quote text that holds it", place
            )
        self.at += 1
        if not group.items:
            raise QueryError(f"empty parentheses at position {place}; fill them or quote them", place)
        return group.items[0] if len(group.items) == 1 else group

    def leaf(self, token: Token) -> Word | Leaf:
        """Turn a token into a word, phrase, regex or filter."""
        if token.kind == "word":
            return Word(token.text, token.flag)
        if token.kind == "phrase":
            return Phrase(token.text)
        if token.kind == "regex":
            return _checked_regex(token)
        if token.name == "lang":
            return LangFilter(self.language(token))
        if token.name == "kind":
            return KindFilter(_choice("kind", token, token.text.lower(), KINDS))
        if token.name == "case":
            raise _misplaced_case(token)
        if not token.text.strip():
            raise QueryError(f"{token.name}: needs a value; write one after the colon", token.position)
        if token.name == "sym":
            return SymFilter(token.text)
        return PathFilter(token.text) if token.name == "path" else RepoFilter(token.text)

    def language(self, token: Token) -> str:
        """Return the canonical name of a language."""
        name = canonical_language(token.text, self.languages)
        return name or _choice("lang", token, token.text.lower(), self.languages)


def _checked_regex(token: Token) -> Regex:
    """Make a regex leaf, with errors placed in the whole query."""
    from dowse.query.regex.parser import parse_regex

    try:
        parse_regex(token.text)
    except QueryError as problem:
        raise problem.shifted(token.position + 1) from None
    return Regex(token.text, token.flag)


def _choice(name: str, token: Token, value: str, known: tuple[str, ...]) -> str:
    """Return `value` if it is known, else say what is."""
    if value in known:
        return value
    candidates = (*known, *LANGUAGE_ALIASES) if name == "lang" else known
    nearest = suggestion(value, candidates)
    hint = f"did you mean {name}:{nearest}? " if nearest else ""
    rest = f" and {len(known) - MAX_SHOWN} more" if len(known) > MAX_SHOWN else ""
    listed = ", ".join(known[:MAX_SHOWN]) + rest
    raise QueryError(f"unknown {name}:{_shown(token.text)} ({hint}known: {listed})", token.position)


def _shown(value: str) -> str:
    """Shorten a user's value so that an error stays one readable line."""
    return (" ".join(value.split()))[:40]


def _misplaced_case(token: Token) -> QueryError:
    """Say where case: may stand."""
    return QueryError(
        "case: holds for the whole query; write case:yes or case:no once, outside parentheses, "
        "without AND, OR, NOT or -",
        token.position,
    )


def _flattened(group: _Group) -> Iterable[Clause]:
    """Dissolve groups that no operator looks at."""
    for item in group.items:
        if isinstance(item, _Group):
            yield from _flattened(item)
        else:
            yield item


def _demanded(item: _Item) -> Constraint:
    """Turn what an operator looks at into a condition."""
    if isinstance(item, Word):
        return WordConstraint(item)
    if isinstance(item, _Group):
        return conjunction(merge_filters([_demanded(inner) for inner in item.items]))
    return item


def _refuse_contradictions(query: Query, places: dict[Leaf, int]) -> None:
    """Raise if the conditions that must all hold exclude each other."""
    if query.constraint is None:
        return
    parts = query.constraint.parts if isinstance(query.constraint, And) else (query.constraint,)
    excluded = [part.part for part in parts if isinstance(part, Not)]
    wanted = [*parts, *(WordConstraint(clause) for clause in query.clauses if isinstance(clause, Word))]
    for part in excluded:
        if part in wanted:
            place = max((places.get(leaf, 0) for leaf in leaves(part)), default=0)
            raise QueryError("the query asks for something and excludes it; drop one of the two", place)
    _refuse_empty_choice("lang", LangFilter, wanted, excluded, places)
    _refuse_empty_choice("kind", KindFilter, wanted, excluded, places)


def _refuse_empty_choice(
    name: str,
    filter_type: type[LangFilter] | type[KindFilter],
    wanted: list[Constraint],
    excluded: list[Constraint],
    places: dict[Leaf, int],
) -> None:
    """Raise if no value of a filter with one value per symbol is left."""
    left: set[Leaf] | None = None
    for part in wanted:
        options = part.parts if isinstance(part, Or) else (part,)
        chosen: set[Leaf] = {option for option in options if isinstance(option, filter_type)}
        if len(chosen) == len(options):
            left = chosen if left is None else left & chosen
    if left is not None and not left - set(excluded):
        place = max((at for leaf, at in places.items() if isinstance(leaf, filter_type)), default=0)
        raise QueryError(
            f"no symbol can satisfy all {name}: filters together; keep one, or join them with OR", place
        )
