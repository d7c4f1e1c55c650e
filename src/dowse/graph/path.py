"""The shortest chain of references from one symbol to another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from dowse.graph.relations import RELATIONS
from dowse.graph.resolve.inheritance import (
    KinSource,
    call_companions,
    is_constructor,
    is_type,
    members,
    overridden,
    overriding,
)
from dowse.graph.traverse import Reached, Walked, walk
from dowse.types import Edge, SymbolRow


class Chain(NamedTuple):
    """A way through the graph."""

    steps: tuple[Reached, ...]  # from the symbol after the first to the last; empty if there is no way
    is_sure: bool  # whether every link is certain, or the only one of its name
    is_cut: bool  # whether there was more than a walk looks at


def shortest_chain(
    source: KinSource, starts: Sequence[SymbolRow], ends: Sequence[SymbolRow], depth: int
) -> Chain:
    """Return the shortest chain whose links are sure; if there is none, the shortest of all.

    A chain may end with a call of a method that an end overrides, where none leads to the end itself.
    """
    starts = _whole(source, starts)
    beginning = {row.row for row in starts}
    goal = frozenset(row.row for row in (*ends, *_made_by(source, ends))) - beginning
    bases = {
        base.row: (base, end)
        for end in reversed(ends)  # of a long symbol's parts, the first counts
        if end.row in goal
        for base in overridden(source, end)
        if base.row not in beginning
    }
    is_cut = False
    for sure in (True, False):
        for wanted in (goal, frozenset(bases)):
            walked = _walk(source, starts, wanted, depth, sure=sure) if wanted else None
            steps = _back(walked, wanted) if walked else ()
            if steps:
                return Chain((*steps, *_dispatched(source, steps[-1], bases)), sure, False)
            is_cut = is_cut or bool(walked and walked.is_cut)
    return Chain((), False, is_cut)


def _dispatched(
    source: KinSource, last: Reached, bases: Mapping[int, tuple[SymbolRow, SymbolRow]]
) -> list[Reached]:
    """Return the step from a base method to the one that may run in its place."""
    if last.symbol.row not in bases:
        return []
    base, end = bases[last.symbol.row]
    edges = [edge for edge in overriding(source, base) if edge.source == end.row]
    return [Reached(end, last.depth + 1, base.row, tuple(edges[:1]))] if edges else []


def _whole(source: KinSource, symbols: Sequence[SymbolRow]) -> list[SymbolRow]:
    """Return symbols, and the members of those that are types: what a type does, its methods do."""
    types = [symbol for symbol in symbols if is_type(symbol)]
    return [*symbols, *members(source, types)]


def _made_by(source: KinSource, symbols: Sequence[SymbolRow]) -> list[SymbolRow]:
    """Return the constructors of those that are types: to call one is to reach the type."""
    types = [symbol for symbol in symbols if is_type(symbol)]
    return [row for row in members(source, types) if is_constructor(row)]


def _walk(
    source: KinSource, starts: Sequence[SymbolRow], goal: frozenset[int], depth: int, *, sure: bool
) -> Walked:
    relation = RELATIONS["path"]
    return walk(
        source,
        starts,
        relation.kinds,
        relation.incoming,
        depth,
        companions=partial(call_companions, source, incoming=False),
        follows=_is_sure if sure else lambda _: True,
        until=goal,
    )


def _is_sure(edge: Edge) -> bool:
    return edge.confidence != "ambiguous"


def _back(walked: Walked, goal: frozenset[int]) -> tuple[Reached, ...]:
    """Return the way to the first symbol of the goal, from its beginning."""
    by_row = {step.symbol.row: step for step in walked.reached}
    at = next((step for step in walked.reached if step.symbol.row in goal), None)
    chain: list[Reached] = []
    while at is not None:
        chain.append(at)
        at = by_row.get(at.parent)
    return tuple(reversed(chain))
