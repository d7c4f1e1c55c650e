"""The arrows of a picture of an answer: one for all references of one kind between two symbols."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from dowse.graph.answer import GraphAnswer, doubt, in_words
from dowse.types import Edge, SymbolRow


class Arrow(NamedTuple):
    """References between two symbols; it points to what is used."""

    source: int  # rows
    target: int
    kind: str
    line: int  # of the surest reference
    is_sure: bool
    certainty: str  # in words


def shown_symbols(answer: GraphAnswer) -> dict[int, SymbolRow]:
    """Return every symbol of the picture once, by row, seeds first."""
    return {row.row: row for row in (*answer.seeds, *(step.symbol for step in answer.steps))}


def arrows(answer: GraphAnswer) -> Iterator[Arrow]:
    """Give one arrow for all references of one kind between two symbols, the surest of them named."""
    order = {row: at for at, row in enumerate(shown_symbols(answer))}
    best: dict[tuple[int, int, str], Edge] = {}
    for edge in answer.edges:
        if edge.source not in order or edge.target not in order:
            continue
        key = (edge.source, edge.target, edge.kind)
        if key not in best or doubt(edge) < doubt(best[key]):
            best[key] = edge
    for (source, target, kind), edge in sorted(
        best.items(), key=lambda item: (order[item[0][0]], order[item[0][1]], item[0][2])
    ):
        yield Arrow(source, target, kind, edge.line, edge.confidence != "ambiguous", in_words(edge))
    yield from _to_unseen(answer, order)


def _to_unseen(answer: GraphAnswer, order: Mapping[int, int]) -> Iterator[Arrow]:
    """Give arrows for steps whose references name what is not shown: a member, a base method."""
    for step in answer.steps:
        edge = step.edge
        if edge.source in order and edge.target in order:
            continue
        parent = answer.steps[step.parent].symbol.row if step.parent >= 0 else answer.seed.row
        ends = (step.symbol.row, parent) if edge.source == step.symbol.row else (parent, step.symbol.row)
        sure = step.confidence in ("resolved", "unique")
        yield Arrow(*ends, edge.kind, step.line, sure, step.certainty)
