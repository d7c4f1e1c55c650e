"""What a question to the graph is answered with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dowse.types import Edge, Note, SymbolRow

# From what is certain to what is only possible.
_ORDER = {"resolved": 0, "unique": 1, "ambiguous": 2}


@dataclass(frozen=True, slots=True)
class GraphStep:
    """A symbol that was reached, and the references that led to it."""

    symbol: SymbolRow
    depth: int  # hops from the seed, from 1
    parent: int  # position in the answer's steps of the symbol before it, -1 for the seed
    references: tuple[Edge, ...]  # most certain first, then by place
    path: str  # of the file that the references stand in
    # Qualified name at the other end of the surest reference: the seed's or the parent's, or that of a
    # member, a constructor or an overload of it.
    other: str = ""
    # The base method or interface method that the references name, where the seed's own is only one of
    # those that could run; "" where they name what was asked about.
    through: str = ""

    @property
    def edge(self) -> Edge:
        """The reference that says most."""
        return self.references[0]

    @property
    def line(self) -> int:
        """The line of that reference."""
        return self.edge.line

    @property
    def confidence(self) -> str:
        """How sure it is: resolved, unique, ambiguous, or possible where only dispatch may lead here."""
        return "possible" if self.through else self.edge.confidence

    @property
    def certainty(self) -> str:
        """The same in words."""
        known = in_words(self.edge)
        return f"possible, through {self.through}: {known}" if self.through else known

    @property
    def is_test(self) -> bool:
        """Whether the symbol belongs to the tests."""
        return is_test(self.symbol)


@dataclass(frozen=True, slots=True)
class GraphAnswer:
    """Everything a question to the graph says: the steps, nearest first, and what to know about them."""

    relation: str  # "callers", "impact", …: a key of RELATIONS
    seeds: tuple[SymbolRow, ...]  # what was asked about: one symbol, or all overloads of one
    steps: tuple[GraphStep, ...]
    total: int  # steps found, of which the first are here
    depth: int  # how far was looked
    generation: int
    edges: tuple[Edge, ...] = ()  # all references among the seeds and the steps, for pictures
    notes: tuple[Note, ...] = ()  # what was cut, taken together or can't be seen
    target: SymbolRow | None = None  # the other end of a path

    @property
    def seed(self) -> SymbolRow:
        """The symbol that was asked about."""
        return self.seeds[0]

    @property
    def tests(self) -> tuple[GraphStep, ...]:
        """The steps that are tests: those to run after a change."""
        return tuple(step for step in self.steps if step.is_test)

    def __iter__(self) -> Iterator[GraphStep]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)


def in_words(edge: Edge) -> str:
    """Say how sure a reference is."""
    if edge.confidence == "resolved":
        return "resolved"
    if edge.confidence == "unique":
        return "only one of this name"
    # A name that one symbol here bears, but that may as well be meant by a library.
    return f"one of {edge.candidates} possible" if edge.candidates > 1 else "may mean one outside the index"


def doubt(edge: Edge) -> tuple[int, int]:
    """Return what orders references from certain to uncertain."""
    return _ORDER.get(edge.confidence, len(_ORDER)), edge.candidates


def is_test(symbol: SymbolRow) -> bool:
    """Whether a symbol belongs to the tests, by its file or, in Rust, by the module around it."""
    inside = symbol.qualified_name.split(".")[:-1]
    return symbol.role == "test" or (symbol.language == "rust" and bool({"test", "tests"} & set(inside)))
