"""The parser of the query language: text to AST.

Words next to each other are ranking words. Filters of one name mean "one of these", different filters "all of
these". AND binds tighter than OR, and both bind tighter than juxtaposition, so `lang:py OR lang:go cookie`
means `(lang:py OR lang:go) cookie`. Words under AND, OR or NOT are conditions; all words of a group under an
operator are required.

What is no query language is plain text with a remark, never an error; only a known filter with a bad value,
filters that contradict each other and an empty query are errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from dowse.errors import FilterError, QueryError
from dowse.lazy_classes import dataclass, replace
from dowse.query.ast import (
    And,
    Clause,
    Constraint,
    Filter,
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
)

# Far below Python's recursion limit, far above what people nest.
MAX_DEPTH = 50
# Long enough for a pasted stack trace; keeps a hostile query from costing more than a large file.
MAX_LENGTH = 10_000
# Names that an error lists: all kinds, and all languages with a grammar.
_MAX_LISTED = len(LANGUAGES)
_BACKTICKED = re.compile(r"`([^`\s]+)`")
# Characters with a meaning in the query language.
_SYNTAX = re.compile(r"""["/()`-]|(?<![\w:]):+|:+(?![\w:])|(?<=\w):(?=\w)""")
# Half of a pair, or a byte of a command line that is no UTF-8: no text holds one.
_SURROGATE = re.compile("[\ud800-\udfff]")
_CASE_CONTRADICTION = "case:yes and case:no contradict each other; keep one"


def parse_query(text: str) -> Query:
    """Parse a query.

    Raises:
        QueryError: with the position and the remedy, if the text is empty or a filter is invalid.
    """
    parser = _Parser(text)
    clauses = tuple(_without_contradictions(parser.parse(), parser.remarks))
    remarks = tuple(dict.fromkeys(parser.remarks))
    query = Query(clauses, parser.case, parser.revision, text, remarks)
    _reject_contradictions(query, parser.positions, only_filters=True)
    return query


def has_conditions(text: str) -> bool:
    """Whether something in a text would be taken as a condition, be it a wrong one."""
    try:
        return parse_query(text).constraint is not None
    except QueryError:
        return True


def find_revision(text: str, *, plain: bool = False, mode: str | None = None) -> str:
    """Return the value of rev: in a query, "" if it has none; a plain text, or a regex, has no filters."""
    if plain or mode == "regex" or "rev:" not in text or "\n" in text.strip():  # a pasted text is no query
        return ""
    return parse_query(text).revision


def narrow(query: Query, filters: str) -> Query:
    """Add the conditions of filters that are given apart from the query, e.g. by flags.

    Raises:
        QueryError: if they are invalid or contradict the query.
    """
    if not filters.strip():
        return query
    parser = _Parser(filters)
    added = Query(parser.parse(only_case=True), parser.case)
    if parser.revision:
        raise FilterError("rev: belongs into the query, not into other filters")
    if parser.remarks:
        raise FilterError(f"in the filters, {parser.remarks[0]}; write them as in lang:py -path:tests/**")
    if added.case is not None and query.case not in (None, added.case):
        raise FilterError(_CASE_CONTRADICTION, 0)
    case = query.case if added.case is None else added.case
    # As one condition: next to the query's own filters they would be alternatives.
    constraint = added.constraint
    if constraint is not None and not isinstance(constraint, And):
        constraint = And((constraint,))
    conditions = () if constraint is None else (constraint,)
    words = (clause for clause in added.clauses if isinstance(clause, Word))
    narrowed = replace(query, clauses=(*query.clauses, *words, *conditions), case=case)
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
    """Split a text at white space and at the syntax of the query language; `A::b` is one name."""
    return _SYNTAX.sub(" ", text).split()


@dataclass(frozen=True, slots=True)
class _Group:
    """Items next to each other, whose meaning depends on the operator around them."""

    items: tuple[_Item, ...]


_Item = Clause | _Group


class _TooDeep(Exception):
    """Parentheses or negations are nested too deep."""


class _Parser:
    """A recursive-descent parser over the tokens of one query."""

    def __init__(self, text: str) -> None:
        self.remarks: list[str] = []
        if len(text) > MAX_LENGTH:
            self.remarks.append(f"only the first {MAX_LENGTH:,} characters count")
        # Not "?", which has a meaning in regexes and globs.
        self.text = _SURROGATE.sub("\ufffd", text[:MAX_LENGTH])
        if self.text != text[:MAX_LENGTH]:
            self.remarks.append("some characters are not valid Unicode and match nothing")
        self.tokens = repair(tokenize(self.text, self.remarks), self.remarks)
        self.reset()

    def reset(self) -> None:
        """Go back to the first token."""
        self.index = 0
        self.depth = 0
        self.case: bool | None = None
        self.revision = ""
        self.positions: dict[Leaf, int] = {}  # for errors about contradictions

    def parse(self, *, only_case: bool = False) -> tuple[Clause, ...]:
        """Parse the whole query; one with nothing but case: is an error unless `only_case`."""
        if not self.text.strip():
            raise QueryError("the query is empty; type what to look for", 0)
        try:
            group = self.parse_items()
        except _TooDeep:
            self.remarks.append(f"nested more than {MAX_DEPTH} deep: operators and parentheses do not count")
            self.tokens = [token for token in self.tokens if token.kind not in ("operator", "not", "(", ")")]
            self.reset()
            group = self.parse_items()
        clauses = tuple(_flatten(group))
        if not clauses and self.case is None and not self.revision:
            return (Word(" ".join(self.text.split())),)
        if not clauses and not only_case:
            name = "rev:" if self.case is None else "case:"
            raise FilterError(f"the query has no words or filters besides {name}; say what to look for", 0)
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
            elif token.kind == "filter" and token.name == "rev":
                self.parse_revision(token)
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
            raise FilterError(
                f"case: is yes or no, not {_shorten(token.text)}; write case:yes or case:no", token.position
            )
        if self.case is not None and self.case != value:
            raise FilterError(_CASE_CONTRADICTION, token.position)
        self.case = value

    def parse_revision(self, token: Token) -> None:
        """Parse rev:REF, which says what is searched."""
        self.index += 1
        following = self.peek()
        if self.depth or self.revision or (following and following.kind == "operator"):
            raise _misplaced_revision(token)
        self.revision = token.text

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
        token = self.tokens[self.index]
        self.index += 1
        if token.kind in ("not", "("):
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise _TooDeep
            item = negation(_to_constraint(self.parse_unary())) if token.kind == "not" else self.parse_group()
            self.depth -= 1
            return item
        leaf = self.parse_leaf(token)
        self.positions[WordConstraint(leaf) if isinstance(leaf, Word) else leaf] = token.position
        return leaf

    def parse_group(self) -> _Item:
        """Parse the rest of a parenthesis."""
        group = self.parse_items()
        self.index += 1
        return group.items[0] if len(group.items) == 1 else group

    def parse_leaf(self, token: Token) -> Word | Leaf:
        """Return a token as a word, phrase, regex or filter."""
        if token.kind == "word":
            return Word(token.text, token.flag)
        if token.kind == "phrase":
            return Phrase(token.text)
        if token.kind == "regex":
            return self.parse_regex(token)
        if token.name == "lang":
            languages = filter_languages()
            language = canonical_language(token.text, languages)
            return LangFilter(language or _checked_choice(token, languages))
        if token.name == "kind":
            return KindFilter(_checked_choice(token, KINDS))
        if token.name == "case":
            raise _misplaced_case(token)
        if token.name == "rev":
            raise _misplaced_revision(token)
        if token.name == "sym":
            return SymFilter(token.text)
        return PathFilter(token.text) if token.name == "path" else RepoFilter(token.text)

    def parse_regex(self, token: Token) -> Word | Regex:
        """Return a regex, or a word if the pattern is invalid."""
        from dowse.query.regex.matcher import compile_pattern

        try:
            for case in ("sensitive", "insensitive"):
                compile_pattern(token.text, case=case)
        except QueryError as problem:
            self.remarks.append(f"/{_shorten(token.text)}/ is no regex: {problem}")
            return Word(token.text)
        return Regex(token.text, token.flag)


def repair(tokens: Iterable[Token], remarks: list[str]) -> list[Token]:
    """Leave out parentheses without a partner or content, and operators without operands."""
    return _without_lone_operators(_without_lone_parentheses(list(tokens), remarks), remarks)


def _without_lone_parentheses(tokens: list[Token], remarks: list[str]) -> list[Token]:
    kept: list[Token] = []
    opened: list[int] = []  # places in `kept`
    for token in tokens:
        if token.kind == "(":
            opened.append(len(kept))
        elif token.kind == ")":
            if not opened:
                remarks.append(f"the ) at position {token.position} closes nothing")
                continue
            start = opened.pop()
            if start == len(kept) - 1:
                remarks.append(f"the parentheses at position {kept.pop().position} are empty")
                continue
        kept.append(token)
    remarks += [f"the ( at position {kept[place].position} is never closed" for place in opened]
    never_closed = set(opened)
    return [token for place, token in enumerate(kept) if place not in never_closed]


def _without_lone_operators(tokens: list[Token], remarks: list[str]) -> list[Token]:
    """Leave out AND, OR and NOT where an operand is missing: first on the right, then on the left."""
    kept: list[Token] = []
    for token in reversed(tokens):
        needs_operand = token.kind in ("operator", "not")
        if needs_operand and (not kept or kept[-1].kind in ("operator", ")")):
            remarks.append(f"{token.text} at position {token.position} has nothing to join")
        else:
            kept.append(token)
    joined: list[Token] = []
    for token in reversed(kept):
        if token.kind == "operator" and (not joined or joined[-1].kind == "("):
            remarks.append(f"{token.text} at position {token.position} has nothing to join")
        else:
            joined.append(token)
    return joined


def _checked_choice(token: Token, known: tuple[str, ...]) -> str:
    """Return the value of a filter if it is known; the error lists the known values."""
    value = token.text.lower()
    if value in known:
        return value
    nearest = suggestion(value, (*known, *LANGUAGE_ALIASES) if token.name == "lang" else known)
    hint = f"did you mean {token.name}:{nearest}? " if nearest else ""
    more = f" and {len(known) - _MAX_LISTED} more" if len(known) > _MAX_LISTED else ""
    listed = ", ".join(known[:_MAX_LISTED]) + more
    raise FilterError(f"unknown {token.name}:{_shorten(token.text)} ({hint}known: {listed})", token.position)


def _shorten(value: str) -> str:
    """Shorten a user's value so that an error stays one readable line."""
    return (" ".join(value.split()))[:40]


def _misplaced_case(token: Token) -> FilterError:
    return FilterError(
        "case: holds for the whole query; write case:yes or case:no once, outside parentheses, "
        "without AND, OR, NOT or -",
        token.position,
    )


def _misplaced_revision(token: Token) -> FilterError:
    return FilterError(
        "rev: says which commit is searched; write it once, outside parentheses, without AND, OR, NOT or -",
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


def _without_contradictions(clauses: tuple[Clause, ...], remarks: list[str]) -> Iterator[Clause]:
    """Leave out the exclusion of a word, phrase or regex that the query also asks for."""
    present = frozenset(clauses)
    for clause in clauses:
        if isinstance(clause, Not) and not any(isinstance(leaf, Filter) for leaf in leaves(clause)):
            wanted = clause.part.word if isinstance(clause.part, WordConstraint) else clause.part
            if wanted in present or clause.part in present:
                remarks.append("an exclusion of what the query asks for does not count")
                continue
        yield clause


def _reject_contradictions(query: Query, positions: dict[Leaf, int], *, only_filters: bool = False) -> None:
    """Raise if conditions contradict each other; unless `only_filters`, words and phrases count, too."""
    if query.constraint is None:
        return
    parts = query.constraint.parts if isinstance(query.constraint, And) else (query.constraint,)
    excluded = [part.part for part in parts if isinstance(part, Not)]
    required = [*parts, *(WordConstraint(clause) for clause in query.clauses if isinstance(clause, Word))]
    present = frozenset(required)
    for part in excluded:
        has_filter = any(isinstance(leaf, Filter) for leaf in leaves(part))
        if part in present and (has_filter or not only_filters):
            position = max((positions.get(leaf, 0) for leaf in leaves(part)), default=0)
            raise FilterError("the query asks for something and excludes it; drop one of the two", position)
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
        raise FilterError(
            f"no symbol can satisfy all {name}: filters together; keep one, or join them with OR",
            max(of_type, default=0),
        )
