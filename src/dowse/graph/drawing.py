"""The arrows of an answer, as the page draws them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dowse.graph.model import GraphAnswer, describe_confidence, is_sure, uncertainty
from dowse.json_form import json_form
from dowse.lazy_classes import NamedTuple
from dowse.types import Edge, SymbolRow


@json_form(renamed={"is_sure": "sure"})
class Arrow(NamedTuple):
    """All references of one kind between two symbols; it points to the symbol that is used."""

    source: str  # ids of symbols
    target: str
    kind: str
    line: int  # of the most certain reference
    is_sure: bool
    certainty: str  # in words


def shown_symbols(answer: GraphAnswer) -> dict[int, SymbolRow]:
    """Return every symbol of an answer once, by row, seeds first."""
    return {row.row: row for row in (*answer.seeds, *(step.symbol for step in answer.steps))}


def arrows(answer: GraphAnswer) -> Iterator[Arrow]:
    """Yield one arrow for all references of one kind between two symbols, named by the most certain one."""
    symbols = shown_symbols(answer)
    order = {row: index for index, row in enumerate(symbols)}
    best: dict[tuple[int, int, str], Edge] = {}
    for edge in answer.edges:
        if edge.source not in order or edge.target not in order:
            continue
        key = (edge.source, edge.target, edge.kind)
        if key not in best or uncertainty(edge) < uncertainty(best[key]):
            best[key] = edge
    for (source, target, kind), edge in sorted(
        best.items(), key=lambda item: (order[item[0][0]], order[item[0][1]], item[0][2])
    ):
        ends = symbols[source].key, symbols[target].key
        yield Arrow(*ends, kind, edge.line, is_sure(edge), describe_confidence(edge))
    yield from _arrows_to_parents(answer, order)


def _arrows_to_parents(answer: GraphAnswer, order: Mapping[int, int]) -> Iterator[Arrow]:
    """Yield arrows for steps whose references name a symbol that is not shown: a member, a base method."""
    for step in answer.steps:
        edge = step.edge
        if edge.source in order and edge.target in order:
            continue
        parent = answer.steps[step.parent - 1].symbol.key if step.parent else answer.seed.key
        ends = (step.symbol.key, parent) if edge.source == step.symbol.row else (parent, step.symbol.key)
        yield Arrow(*ends, edge.kind, step.line, step.is_sure, step.certainty)
