"""Overloads that are asked about together: a reference that can only mean one of them is no guess."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dowse.graph.traverse import GraphSource
from dowse.types import Edge, SymbolRow


class Together:
    """A graph in which some symbols count as one for who refers to them."""

    def __init__(self, source: GraphSource, symbols: Sequence[SymbolRow]) -> None:
        self._source = source
        self._symbols = {symbol.row for symbol in symbols}
        self.rows = source.rows

    def edges(
        self, rows: Sequence[int], kinds: Sequence[str] = (), incoming: bool = False, limit: int = 10_000
    ) -> list[Edge]:
        """Return edges; a reference all of whose candidates are asked about has one, to the first of them."""
        edges = self._source.edges(rows, kinds, incoming, limit)
        if len(self._symbols) == 1:
            return edges
        meant = Counter(_reference(edge) for edge in edges if edge.target in self._symbols)
        settled: dict[tuple[object, ...], Edge] = {}
        others = []
        for edge in edges:
            reference = _reference(edge)
            if edge.confidence == "ambiguous" and meant[reference] >= edge.candidates > 1:
                settled.setdefault(reference, edge._replace(confidence="unique", candidates=1))
            else:
                others.append(edge)
        return [*others, *settled.values()]


def _reference(edge: Edge) -> tuple[object, ...]:
    """Return what tells one reference from another, whatever it may mean."""
    return edge.kind, edge.source, edge.file_id, edge.line, edge.column
