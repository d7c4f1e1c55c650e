"""The data of graph queries: relations, answers, and the order of their parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, Protocol

from dowse.json_form import json_form
from dowse.lazy_classes import NamedTuple, dataclass
from dowse.types import Edge, Note, SymbolRow, is_test

# From certain to merely possible.
_CONFIDENCE_ORDER = {"resolved": 0, "unique": 1, "possible": 2, "ambiguous": 3}
# Confidences of references that certainly mean their target.
_CERTAIN = frozenset(["resolved", "unique"])
# Why only the name of a reference is known, or why it may be no call.
_REASON_WORDS = {
    "receiver": "receiver's type unknown",
    "inherited": "a base class is outside the index",
    "import": "imported from outside the index",
    "undefined": "not defined or imported where it is called",
    "variable": "a variable of this name is called",
    "value": "used as a value",
}


class EdgeSource(Protocol):
    """The part of an index that a search reads; every `Reader` has it."""

    def edges(
        self, rows: Sequence[int], kinds: Sequence[str] = (), incoming: bool = False, limit: int = ...
    ) -> list[Edge]:
        """Return edges out of symbols, or into them."""

    def rows(self, rows: Sequence[int]) -> list[SymbolRow]:
        """Return symbols by row, in the order asked."""


class Relation(NamedTuple):
    """One kind of graph query: which edges it follows, in which direction, and how far."""

    kinds: tuple[str, ...]  # of edges
    incoming: bool  # from definitions to the references to them
    depth: int  # default number of hops
    limit: int = 50  # default number of steps in an answer


# Kinds of references between symbols, and with them every kind: all count as uses.
SYMBOL_KINDS = ("calls", "uses", "extends", "implements", "imports")
_ALL_KINDS = (*SYMBOL_KINDS, "reads", "writes")

RELATIONS = {
    "callers": Relation(("calls",), incoming=True, depth=1),
    "callees": Relation(("calls",), incoming=False, depth=1),
    "uses": Relation(_ALL_KINDS, incoming=True, depth=1),
    # A type can implement an interface through another that extends it, or through a base class.
    "implementers": Relation(("implements", "extends"), incoming=True, depth=5),
    "subclasses": Relation(("extends",), incoming=True, depth=5),
    "supertypes": Relation(("extends", "implements"), incoming=False, depth=5),
    # The tests among the results are to be run, so few should be missing.
    "impact": Relation(_ALL_KINDS, incoming=True, depth=3, limit=200),
    "path": Relation(("calls", "uses", "reads", "writes"), incoming=False, depth=12),
}


@json_form(properties=("line", "kind", "confidence", "certainty", "is_test"), renamed={"is_test": "test"})
@dataclass(frozen=True, slots=True)
class GraphStep:
    """A symbol that was reached, and the references that led to it."""

    number: int  # in the answer, from 1
    symbol: SymbolRow
    depth: int  # hops from the seed, from 1
    parent: int  # the number of the step before it, 0 for the seed
    references: tuple[Edge, ...]  # most certain first, then by location
    path: str  # of the file that contains the references
    # Qualified name at the other end of the most certain reference: that of the seed or the parent, or of a
    # member, a constructor or an overload of it.
    other: str = ""
    # The base method or interface method that the references name, where dynamic dispatch may run the seed or
    # the parent instead; "" where they name it.
    through: str = ""

    @property
    def edge(self) -> Edge:
        """The most certain reference."""
        return self.references[0]

    @property
    def line(self) -> int:
        """The line of that reference."""
        return self.edge.line

    @property
    def kind(self) -> str:
        """The kind of that reference."""
        return self.edge.kind

    @property
    def confidence(self) -> str:
        """The confidence of the edge; possible where only dispatch may lead here."""
        return "possible" if self.through else self.edge.confidence

    @property
    def is_sure(self) -> bool:
        """Whether a reference means the seed or the parent for certain."""
        return not self.through and is_sure(self.edge)

    @property
    def certainty(self) -> str:
        """The confidence in words."""
        words = describe_confidence(self.edge)
        return f"possible, through {self.through}: {words}" if self.through else words

    @property
    def is_test(self) -> bool:
        """Whether the symbol belongs to the tests."""
        return is_test(self.symbol)


@json_form(properties=("path",))
@dataclass(frozen=True, slots=True)
class Mention:
    """A line with a symbol's name that is not known to refer to it."""

    symbol: SymbolRow  # the innermost around the line, or the file
    line: int
    text: str

    @property
    def path(self) -> str:
        """The file of the line."""
        return self.symbol.path


@json_form(hidden=("edges",))
@dataclass(frozen=True, slots=True)
class GraphAnswer:
    """The answer to a graph query: its steps, nearest first, and notes about them."""

    relation: str  # "callers", "impact", …: a key of RELATIONS
    seeds: tuple[SymbolRow, ...]  # one symbol, or all its overloads
    steps: tuple[GraphStep, ...]
    total: int  # steps before the limit
    depth: int  # hops that were followed
    generation: int
    edges: tuple[Edge, ...] = ()  # all references among the seeds and the steps
    notes: tuple[Note, ...] = ()  # what was truncated, merged or is invisible to static analysis
    target: SymbolRow | None = None  # the end of a path
    total_tests: int = 0  # of `total`, how many are tests
    total_by_depth: tuple[int, ...] = ()  # of the others, how many are 1, 2, … hops away
    mentions: tuple[Mention, ...] = ()  # unless a reference is certain
    total_mentions: int = 0

    @property
    def seed(self) -> SymbolRow:
        """The symbol that the query is about."""
        return self.seeds[0]

    @property
    def certain(self) -> frozenset[int]:
        """The numbers of the steps to which certain references lead all the way."""
        numbers = {0}
        for step in self.steps:  # a parent comes before
            if step.is_sure and step.parent in numbers:
                numbers.add(step.number)
        return frozenset(numbers - {0})

    @property
    def tests(self) -> tuple[GraphStep, ...]:
        """The steps that are tests: those to run after a change, certain ones first, then the nearest."""
        certain = self.certain
        tests = (step for step in self.steps if step.is_test)
        return tuple(sorted(tests, key=lambda step: (step.number not in certain, step.depth, step.number)))

    def __iter__(self) -> Iterator[GraphStep]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)


@dataclass(frozen=True, slots=True)
class AmbiguousAnswer:
    """The answer to a query about a name that several symbols have."""

    name: str
    candidates: tuple[SymbolRow, ...]
    error: Literal["ambiguous"] = "ambiguous"


def describe_symbol(symbol: SymbolRow) -> str:
    """Return kind and name of a symbol; an impl as it is written: `impl Sink for Box<S>`."""
    if symbol.kind == "impl" and symbol.signature:
        return symbol.signature
    return f"{symbol.kind} {symbol.qualified_name}"


def describe_confidence(edge: Edge) -> str:
    """Return the confidence of a reference in words."""
    if edge.confidence == "resolved":
        return "resolved"
    if edge.confidence == "unique":
        return "only one of this name"
    if edge.confidence == "possible":
        return f"possible: {_REASON_WORDS.get(edge.reason, edge.reason)}"
    # One symbol here has the name, but a library may as well be meant.
    words = f"one of {edge.candidates} possible" if edge.candidates > 1 else "may mean one outside the index"
    return f"{words}: {_REASON_WORDS.get(edge.reason, edge.reason)}" if edge.reason else words


def is_sure(edge: Edge) -> bool:
    """Whether a reference means its target for certain."""
    return edge.confidence in _CERTAIN


def uncertainty(edge: Edge) -> tuple[int, int]:
    """Return a sort key that orders references from certain to uncertain."""
    return _CONFIDENCE_ORDER.get(edge.confidence, len(_CONFIDENCE_ORDER)), edge.candidates


def role_order(symbol: SymbolRow) -> int:
    """Return a sort key: the project's own code, then examples, vendored code and such, then tests."""
    return 2 if is_test(symbol) else int(bool(symbol.role))


def location_key(symbol: SymbolRow) -> tuple[str, str, int, int, str, int]:
    """Return a sort key that orders symbols by location, independent of how they are stored."""
    return (
        *(symbol.repo, symbol.path, symbol.start_line, -symbol.end_line),
        *(symbol.qualified_name, symbol.row),
    )
