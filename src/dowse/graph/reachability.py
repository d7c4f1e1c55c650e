"""Reachability by a relation, and shortest paths; both count members, overloads and dynamic dispatch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from dowse.graph.model import RELATIONS, EdgeSource, is_sure, uncertainty
from dowse.graph.properties import is_property
from dowse.graph.traverse import Reached, Traversal, breadth_first_search
from dowse.graph.type_hierarchy import (
    call_aliases,
    dispatch_edges,
    is_constructor,
    is_definition,
    is_type,
    members,
    overridden_by,
    overriding_edges,
)
from dowse.lazy_classes import NamedTuple
from dowse.storage.protocol import Reader
from dowse.types import Edge, SymbolRow

# References that run a method; a property is run where it is read.
_DISPATCHED = frozenset(["calls", "reads", "writes"])
# Methods that another one overrides, by row: (base method, overriding method).
Bases = Mapping[int, tuple[SymbolRow, SymbolRow]]


class ShortestPath(NamedTuple):
    """The shortest chain of references between two symbols."""

    steps: tuple[Reached, ...]  # from the symbol after the first to the last; empty if there is no path
    is_certain: bool  # whether no link is ambiguous
    is_truncated: bool  # whether a limit was reached before a path was found


def relation_of(relation: str, seeds: Sequence[SymbolRow]) -> str:
    """Return the relation that is meant by one: a name is not called, its uses are meant."""
    return "uses" if relation == "callers" and seeds[0].row < 0 else relation


def is_property_of(reader: Reader, symbol: SymbolRow) -> bool:
    """Whether a symbol is a method that is read like a field."""
    if symbol.kind != "method":
        return False
    lines: list[str] = []
    for _, text in reader.texts([symbol.file_id]) if symbol.language == "python" else ():
        lines = text.decode("utf-8", "replace").split("\n")[symbol.start_line - 1 :]
    return is_property(symbol.language, symbol.signature, lines)


def reach(reader: Reader, relation: str, seeds: Sequence[SymbolRow], depth: int) -> tuple[Traversal, Bases]:
    """Return what a relation reaches, and the base methods through which symbols may be called."""
    kinds, incoming, *_ = RELATIONS[relation]
    if relation == "callers" and any(is_property_of(reader, seed) for seed in seeds):
        kinds = (*kinds, "reads", "writes")  # they run it
    is_dispatched = relation in ("callers", "impact")
    bases: dict[int, tuple[SymbolRow, SymbolRow]] = {}
    # The calls of a type are those of its methods, and a change of it is a change of them.
    types = [seed for seed in seeds if is_type(seed)] if relation in ("callees", "impact") else []
    owners = {member: seed for seed in types for member in members(reader, [seed])}
    starts = [*seeds, *(member for member in owners if member not in seeds)]
    followed: set[int] = set()
    # The methods of a type name it all the time: they come last.
    inside = (
        {row.row for row in members(reader, list(filter(is_type, seeds)))} if relation == "uses" else set()
    )

    def aliases(frontier: Sequence[SymbolRow]) -> dict[int, int]:
        rows = {symbol.row for symbol in frontier}
        followed.update(rows)
        for base, method in overridden_by(reader, frontier) if is_dispatched else ():
            if base.row not in followed:
                bases.setdefault(base.row, (base, method))
        dispatch = {row: method.row for row, (_, method) in bases.items() if method.row in rows}
        own_members = {member.row: seed.row for member, seed in owners.items() if seed.row in rows}
        constructors = call_aliases(reader, frontier, incoming) if "calls" in kinds else {}
        return {**dispatch, **constructors, **own_members}

    def rank(edge: Edge) -> tuple[int, int]:
        # References to a method that is overridden come after those to the other, before ambiguous ones.
        confidence, count = uncertainty(edge)
        if edge.kind == "reads" and edge.source in inside:
            confidence = 2
        return (confidence, count) if edge.target not in bases else (max(confidence + 1, 3), count - 1)

    def overrides(frontier: Sequence[SymbolRow]) -> list[Edge]:
        if relation not in ("implementers", "impact"):
            return []
        rows = {symbol.row for symbol in frontier}
        return [edge for seed in seeds if seed.row in rows for edge in overriding_edges(reader, seed)]

    traversal = breadth_first_search(
        _MergedOverloads(reader, starts) if incoming else reader,
        *(starts, kinds, incoming, depth),
        aliases=aliases,
        expands=is_definition,
        # Only these are dispatched to another method than the one that they name.
        accepts=lambda edge: edge.target not in bases or edge.kind in _DISPATCHED,
        extra_edges=overrides,
        rank=rank,
    )
    return traversal, bases


def dispatching_method(step: Reached, bases: Bases) -> str:
    """Return the base method that the references of a step name instead of its parent, "" if none."""
    named = bases.get(step.edges[0].target)
    return named[0].qualified_name if named and step.parent == named[1].row else ""


def shortest_path(
    reader: Reader, starts: Sequence[SymbolRow], ends: Sequence[SymbolRow], depth: int
) -> ShortestPath:
    """Return the shortest path without ambiguous links; if there is none, the shortest of all.

    Where calls alone do not lead to the end, a call of a method may run one that overrides it.
    """
    # The calls of a type are those of its methods, and a call of its constructor reaches it.
    starts = [*starts, *members(reader, [symbol for symbol in starts if is_type(symbol)])]
    end_members = members(reader, [symbol for symbol in ends if is_type(symbol)])
    goal = frozenset(row.row for row in (*ends, *filter(is_constructor, end_members)))
    goal -= {row.row for row in starts}
    is_truncated = False
    for is_certain in (True, False):
        for is_dispatched in (False, True):
            traversal = _search_path(reader, starts, goal, depth, is_certain, is_dispatched)
            if steps := _backtrack(traversal, goal):
                return ShortestPath(steps, is_certain, False)
            is_truncated = is_truncated or traversal.is_truncated
    return ShortestPath((), False, is_truncated)


def _search_path(
    reader: Reader,
    starts: Sequence[SymbolRow],
    goal: frozenset[int],
    depth: int,
    is_certain: bool,
    is_dispatched: bool,
) -> Traversal:
    kinds, incoming, *_ = RELATIONS["path"]
    return breadth_first_search(
        *(reader, starts, kinds, incoming, depth),
        aliases=partial(call_aliases, reader, incoming=False),
        accepts=lambda edge: not is_certain or is_sure(edge),
        extra_edges=partial(dispatch_edges, reader) if is_dispatched else lambda _: (),
        goal=goal,
    )


def _backtrack(traversal: Traversal, goal: frozenset[int]) -> tuple[Reached, ...]:
    """Return the path to the first symbol of the goal, from its start."""
    by_row = {step.symbol.row: step for step in traversal.reached}
    step = next((step for step in traversal.reached if step.symbol.row in goal), None)
    path: list[Reached] = []
    while step is not None:
        path.append(step)
        step = by_row.get(step.parent)
    return tuple(reversed(path))


class _MergedOverloads:
    """A graph in which overloads count as one target: a reference to any one of them is not ambiguous."""

    def __init__(self, source: EdgeSource, symbols: Sequence[SymbolRow]) -> None:
        self._source = source
        self._symbols = {symbol.row for symbol in symbols}
        self.rows = source.rows

    def edges(
        self, rows: Sequence[int], kinds: Sequence[str] = (), incoming: bool = False, limit: int = 10_000
    ) -> list[Edge]:
        """Return edges; a reference whose candidates are all merged has one edge, to the first of them."""
        edges = self._source.edges(rows, kinds, incoming, limit)
        if len(self._symbols) == 1:
            return edges
        counts = Counter(_reference(edge) for edge in edges if edge.target in self._symbols)
        merged: dict[tuple[object, ...], Edge] = {}
        others = []
        for edge in edges:
            reference = _reference(edge)
            if edge.confidence == "ambiguous" and counts[reference] >= edge.candidates > 1:
                confidence = edge.confidence if edge.reason else "unique"
                merged.setdefault(reference, edge._replace(confidence=confidence, candidates=1))
            else:
                others.append(edge)
        return [*others, *merged.values()]


def _reference(edge: Edge) -> tuple[object, ...]:
    """Return what identifies a reference, whichever symbol it means."""
    return edge.kind, edge.source, edge.file_id, edge.line, edge.column
