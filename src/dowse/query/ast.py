"""A parsed query: ranking words, and the constraints every answer must satisfy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Word:
    """A piece of ranking text; `identifier` when it looks like a name in code or stands in backticks."""

    text: str
    identifier: bool = False


@dataclass(frozen=True, slots=True)
class LangFilter:
    """The language, by its canonical name."""

    language: str


@dataclass(frozen=True, slots=True)
class PathFilter:
    """A glob at component boundaries of the path or, without glob characters, a part of it."""

    glob: str


@dataclass(frozen=True, slots=True)
class RepoFilter:
    """The same for the repository's name."""

    glob: str


@dataclass(frozen=True, slots=True)
class KindFilter:
    """The kind of symbol."""

    kind: str


@dataclass(frozen=True, slots=True)
class SymFilter:
    """A glob for the symbol's name, its qualified name, or the last segments of that."""

    glob: str


@dataclass(frozen=True, slots=True)
class WordConstraint:
    """The symbol contains the word."""

    word: Word


@dataclass(frozen=True, slots=True)
class Phrase:
    """The symbol has a line with exactly this text."""

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


Filter = LangFilter | PathFilter | RepoFilter | KindFilter | SymFilter
Leaf = Filter | WordConstraint | Phrase | Regex
Constraint = Leaf | And | Or | Not
Clause = Word | Constraint


@dataclass(frozen=True)
class Query:
    """What was asked, clause by clause; the engine reads the views below."""

    clauses: tuple[Clause, ...]
    case: bool | None = None  # what case: said
    source: str = field(default="", compare=False)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """All positive words in order, demanded ones and phrases included."""
        return tuple(word for clause in self.clauses for word in _positive_words(clause, phrases=True))

    @cached_property
    def text_for_ranking(self) -> str:
        """The plain words in order, without phrases."""
        words = (word for clause in self.clauses for word in _positive_words(clause, phrases=False))
        return " ".join(word.text for word in words)

    @cached_property
    def constraint(self) -> Constraint | None:
        """What must hold, None if nothing must."""
        parts = [clause for clause in self.clauses if not isinstance(clause, Word)]
        return conjunction(merge_filters(parts)) if parts else None

    @property
    def case_sensitive(self) -> bool:
        """Whether case:yes was given; otherwise smart case holds, unless case:no."""
        return self.case is True

    def __str__(self) -> str:
        from dowse.query.render import render_query

        return render_query(self)


def requires_exact(query: Query) -> bool:
    """Whether the text of a symbol must be read to decide (a phrase or a regex occurs)."""
    return any(isinstance(leaf, Phrase | Regex) for leaf in leaves(query.constraint))


def leaves(constraint: Constraint | None) -> Iterator[Leaf]:
    """Yield the leaves of a constraint from left to right."""
    if isinstance(constraint, And | Or):
        for part in constraint.parts:
            yield from leaves(part)
    elif isinstance(constraint, Not):
        yield from leaves(constraint.part)
    elif constraint is not None:
        yield constraint


def positive_leaves(constraint: Constraint | None, *, positive: bool = True) -> Iterator[Leaf]:
    """Yield the leaves that are asked for, not excluded."""
    if isinstance(constraint, And | Or):
        for part in constraint.parts:
            yield from positive_leaves(part, positive=positive)
    elif isinstance(constraint, Not):
        yield from positive_leaves(constraint.part, positive=not positive)
    elif constraint is not None and positive:
        yield constraint


def needs_match(constraint: Constraint | None) -> bool:
    """Whether the constraint can hold only where some phrase or regex matches."""
    if isinstance(constraint, And):
        return any(map(needs_match, constraint.parts))
    if isinstance(constraint, Or):
        return all(map(needs_match, constraint.parts))
    return isinstance(constraint, Phrase | Regex)


def with_exact_words(query: Query) -> Constraint | None:
    """Return the constraint of a query, with words as they are written where case:yes was said."""
    if not query.case_sensitive:
        return query.constraint
    phrases: list[Constraint] = [Phrase(clause.text) for clause in query.clauses if isinstance(clause, Word)]
    parts = [_exact_words(query.constraint)] if query.constraint else []
    return conjunction([*parts, *phrases])


def _exact_words(constraint: Constraint) -> Constraint:
    """Ask also for the very text of every word that must be there."""
    if isinstance(constraint, WordConstraint):
        return And((constraint, Phrase(constraint.word.text)))
    if isinstance(constraint, And):
        return conjunction([_exact_words(part) for part in constraint.parts])
    return Or(tuple(map(_exact_words, constraint.parts))) if isinstance(constraint, Or) else constraint


def conjunction(parts: list[Constraint]) -> Constraint:
    """Make an And without nesting or repetition."""
    flat = dict.fromkeys(
        inner for part in parts for inner in (part.parts if isinstance(part, And) else (part,))
    )
    return next(iter(flat)) if len(flat) == 1 else And(tuple(flat))


def disjunction(parts: list[Constraint]) -> Constraint:
    """Make an Or without nesting or repetition."""
    flat = dict.fromkeys(
        inner for part in parts for inner in (part.parts if isinstance(part, Or) else (part,))
    )
    return next(iter(flat)) if len(flat) == 1 else Or(tuple(flat))


def negation(part: Constraint) -> Constraint:
    """Make a Not without doubling it."""
    return part.part if isinstance(part, Not) else Not(part)


def merge_filters(parts: list[Constraint]) -> list[Constraint]:
    """Let filters of one kind that stand side by side mean "one of these"."""
    groups: dict[object, list[Constraint]] = {}
    for part in parts:
        groups.setdefault(type(part) if isinstance(part, Filter) else part, []).append(part)
    return [disjunction(group) for group in groups.values()]


def _positive_words(clause: Clause, *, phrases: bool) -> Iterator[Word]:
    """Yield the ranking words of a clause, leaving out what is negated."""
    if isinstance(clause, Word):
        yield clause
    elif isinstance(clause, WordConstraint):
        yield clause.word
    elif isinstance(clause, Phrase) and phrases:
        yield Word(clause.text)
    elif isinstance(clause, And | Or):
        for part in clause.parts:
            yield from _positive_words(part, phrases=phrases)
