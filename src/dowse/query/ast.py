"""The AST of a query: ranking words, and a boolean constraint that every result must satisfy."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from dowse.lazy_classes import dataclass, field


@dataclass(frozen=True, slots=True)
class Word:
    """A ranking word; `identifier` if it looks like a name in code or is in backticks."""

    text: str
    identifier: bool = False


@dataclass(frozen=True, slots=True)
class LangFilter:
    """The symbol is in a language, given by its canonical name."""

    language: str


@dataclass(frozen=True, slots=True)
class PathFilter:
    """The path matches a glob at component boundaries or, without glob characters, contains it."""

    glob: str


@dataclass(frozen=True, slots=True)
class WithinFilter:
    """The path is this one, or below it: where a command was asked to search."""

    path: str


@dataclass(frozen=True, slots=True)
class RowsFilter:
    """The symbol is one of these rows: what a branch changed."""

    rows: frozenset[int]


@dataclass(frozen=True, slots=True)
class RepoFilter:
    """The same for the name of the repository."""

    glob: str


@dataclass(frozen=True, slots=True)
class KindFilter:
    """The symbol is of a kind."""

    kind: str


@dataclass(frozen=True, slots=True)
class SymFilter:
    """The name, the qualified name or its last segments match a glob."""

    glob: str


@dataclass(frozen=True, slots=True)
class WordConstraint:
    """The symbol contains the word."""

    word: Word


@dataclass(frozen=True, slots=True)
class Phrase:
    """The symbol has a line that contains exactly this text."""

    text: str


@dataclass(frozen=True, slots=True)
class Regex:
    """The symbol has a line that this pattern matches."""

    pattern: str
    ignore_case: bool = False


@dataclass(frozen=True, slots=True)
class And:
    """All parts hold."""

    parts: tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Some part holds."""

    parts: tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Constraint


Filter = LangFilter | PathFilter | WithinFilter | RowsFilter | RepoFilter | KindFilter | SymFilter
Leaf = Filter | WordConstraint | Phrase | Regex
Constraint = Leaf | And | Or | Not
Clause = Word | Constraint


@dataclass(frozen=True)
class Query:
    """A parsed query, clause by clause; search reads the properties below."""

    clauses: tuple[Clause, ...]
    case: bool | None = None  # of the case: filter; None for smart case
    revision: str = ""  # of the rev: filter: another branch, tag or commit
    source: str = field(default="", compare=False)
    remarks: tuple[str, ...] = field(default=(), compare=False)  # what of the text is no query language

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """All positive words in order, with required ones and phrases."""
        return tuple(word for clause in self.clauses for word in _positive_words(clause, phrases=True))

    @cached_property
    def text_for_ranking(self) -> str:
        """The plain words in order, without phrases."""
        words = (word for clause in self.clauses for word in _positive_words(clause, phrases=False))
        return " ".join(word.text for word in words)

    @cached_property
    def constraint(self) -> Constraint | None:
        """The conjunction of all conditions, None if there are none."""
        parts = [clause for clause in self.clauses if not isinstance(clause, Word)]
        return conjunction(merge_filters(parts)) if parts else None


def leaves(constraint: Constraint | None) -> Iterator[Leaf]:
    """Yield the leaves of a constraint from left to right."""
    return (leaf for leaf, _ in _signed_leaves(constraint, positive=True))


def positive_leaves(constraint: Constraint | None) -> Iterator[Leaf]:
    """Yield the leaves that are not negated."""
    return (leaf for leaf, positive in _signed_leaves(constraint, positive=True) if positive)


def _signed_leaves(constraint: Constraint | None, *, positive: bool) -> Iterator[tuple[Leaf, bool]]:
    if isinstance(constraint, And | Or):
        for part in constraint.parts:
            yield from _signed_leaves(part, positive=positive)
    elif isinstance(constraint, Not):
        yield from _signed_leaves(constraint.part, positive=not positive)
    elif constraint is not None:
        yield constraint, positive


def needs_match(constraint: Constraint | None) -> bool:
    """Whether the constraint can only hold where a phrase or regex matches."""
    if isinstance(constraint, And):
        return any(map(needs_match, constraint.parts))
    if isinstance(constraint, Or):
        return all(map(needs_match, constraint.parts))
    return isinstance(constraint, Phrase | Regex)


def with_exact_words(query: Query) -> Constraint | None:
    """Return the constraint of a query; with case:yes, words must also match exactly."""
    if query.case is not True:
        return query.constraint
    phrases: list[Constraint] = [Phrase(clause.text) for clause in query.clauses if isinstance(clause, Word)]
    parts = [_exact_words(query.constraint)] if query.constraint else []
    return conjunction([*parts, *phrases])


def _exact_words(constraint: Constraint) -> Constraint:
    """Require the exact text of every required word."""
    if isinstance(constraint, WordConstraint):
        return And((constraint, Phrase(constraint.word.text)))
    if isinstance(constraint, And):
        return conjunction([_exact_words(part) for part in constraint.parts])
    return Or(tuple(map(_exact_words, constraint.parts))) if isinstance(constraint, Or) else constraint


def conjunction(parts: list[Constraint]) -> Constraint:
    """Return an And without nesting or repetition."""
    flat = dict.fromkeys(
        inner for part in parts for inner in (part.parts if isinstance(part, And) else [part])
    )
    return next(iter(flat)) if len(flat) == 1 else And(tuple(flat))


def disjunction(parts: list[Constraint]) -> Constraint:
    """Return an Or without nesting or repetition."""
    flat = dict.fromkeys(
        inner for part in parts for inner in (part.parts if isinstance(part, Or) else [part])
    )
    return next(iter(flat)) if len(flat) == 1 else Or(tuple(flat))


def negation(part: Constraint) -> Constraint:
    """Return a Not without double negation."""
    return part.part if isinstance(part, Not) else Not(part)


def merge_filters(parts: list[Constraint]) -> list[Constraint]:
    """Join filters of one kind with Or: side by side they mean "one of these"."""
    groups: dict[object, list[Constraint]] = {}
    for part in parts:
        groups.setdefault(type(part) if isinstance(part, Filter) else part, []).append(part)
    return [disjunction(group) for group in groups.values()]


def _positive_words(clause: Clause, *, phrases: bool) -> Iterator[Word]:
    """Yield the ranking words of a clause that are not negated."""
    if isinstance(clause, Word):
        yield clause
    elif isinstance(clause, WordConstraint):
        yield clause.word
    elif isinstance(clause, Phrase) and phrases:
        yield Word(clause.text)
    elif isinstance(clause, And | Or):
        for part in clause.parts:
            yield from _positive_words(part, phrases=phrases)
