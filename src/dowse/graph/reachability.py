"""What a relation reaches from its seeds, with what belongs to them: members, overloads, dispatch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dowse.graph.answer import doubt
from dowse.graph.overloads import Together
from dowse.graph.relations import RELATIONS
from dowse.graph.resolve.inheritance import (
    KinSource,
    call_companions,
    is_definition,
    is_type,
    members,
    overridden,
    overriding,
)
from dowse.graph.traverse import Reached, Walked, walk
from dowse.types import Edge, SymbolRow

# Methods that a seed overrides, by row, each with that seed.
Bases = Mapping[int, tuple[SymbolRow, SymbolRow]]


def reach(source: KinSource, relation: str, seeds: Sequence[SymbolRow], depth: int) -> tuple[Walked, Bases]:
    """Walk as a relation asks; return what was reached, and the methods through which seeds may be called."""
    bases = _overridden(source, seeds) if relation in ("callers", "impact") else {}
    return _walk(source, relation, seeds, depth, bases), bases


def through(step: Reached, bases: Bases) -> str:
    """Return the method that the references name, where that is not the seed but one that it overrides."""
    named = bases.get(step.edges[0].target)
    return named[0].qualified_name if named and step.parent == named[1].row else ""


def _overridden(source: KinSource, seeds: Sequence[SymbolRow]) -> Bases:
    """Return the methods that seeds override, each with the seed: who calls one may run the other."""
    own = {seed.row for seed in seeds}
    return {
        base.row: (base, seed) for seed in seeds for base in overridden(source, seed) if base.row not in own
    }


def _walk(source: KinSource, relation: str, seeds: Sequence[SymbolRow], depth: int, bases: Bases) -> Walked:
    """Walk as the relation asks."""
    kinds, incoming, *_ = RELATIONS[relation]
    # What a type does its methods do, and with it they change.
    whole = [seed for seed in seeds if is_type(seed)] if relation in ("callees", "impact") else []
    belonging = {member: seed for seed in whole for member in members(source, [seed])}
    starts = [*seeds, *(member for member in belonging if member not in seeds)]

    def companions(frontier: Sequence[SymbolRow]) -> dict[int, int]:
        here = {symbol.row for symbol in frontier}
        through = {row: seed.row for row, (_, seed) in bases.items() if seed.row in here}
        own = {member.row: seed.row for member, seed in belonging.items() if seed.row in here}
        together = call_companions(source, frontier, incoming) if "calls" in kinds else {}
        return {**through, **together, **own}

    def doubted(edge: Edge) -> tuple[int, int]:
        # What names a method that the seed overrides comes behind what names the seed, before mere names.
        rank, count = doubt(edge)
        return (rank, count) if edge.target not in bases else (max(rank + 1, 2), count - 1)

    def overrides(frontier: Sequence[SymbolRow]) -> list[Edge]:
        wanted = relation in ("implementers", "impact")
        here = {symbol.row for symbol in frontier}
        return [edge for seed in seeds if wanted and seed.row in here for edge in overriding(source, seed)]

    return walk(
        Together(source, starts) if incoming else source,
        starts,
        kinds,
        incoming,
        depth,
        companions=companions,
        goes_on=is_definition,
        # Only calls can run another method than the one that they name.
        follows=lambda edge: edge.target not in bases or edge.kind == "calls",
        more=overrides,
        doubted=doubted,
    )
