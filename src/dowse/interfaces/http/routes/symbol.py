"""`GET /api/v1/symbol`, `related`, `graph/…`: one symbol, similar ones, walks of the call graph."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from dowse.errors import DowseError
from dowse.graph.drawing import Arrow, arrows, shown_symbols
from dowse.graph.model import GraphAnswer
from dowse.graph.queries import find_path_between
from dowse.interfaces.http.state import IndexName, State, Target, in_slow_thread, in_thread
from dowse.json_form import document, json_form
from dowse.lazy_classes import dataclass
from dowse.services.schemas import document_model, model
from dowse.services.symbol_page import SymbolPage, symbol_page
from dowse.services.targets import RelatedPage, open_target, related_to, resolve_overloads, walk
from dowse.types import SymbolRow, is_test

router = APIRouter(tags=["symbols"])
# A path has two ends, and so an address of its own.
Relation = Literal["callers", "callees", "uses", "implementers", "subclasses", "supertypes", "impact"]
_Depth = Annotated[
    int | None, Query(ge=1, le=20, description="Maximum number of hops; the default depends on the relation.")
]


@json_form(inline=("symbol",))
@dataclass(frozen=True, slots=True)
class Node:
    """A symbol of the drawing."""

    symbol: SymbolRow
    depth: int  # hops from the seed, which has 0
    test: bool
    seed: bool


@json_form(inline=("answer",))
@dataclass(frozen=True, slots=True)
class GraphPage:
    """The steps of a graph traversal, nearest first, and their drawing."""

    index: str
    answer: GraphAnswer
    nodes: list[Node]
    edges: list[Arrow]


@router.get("/symbol", operation_id="symbol", response_model=model(SymbolPage), summary="One symbol")
@in_thread
def symbol(
    state: State,
    target: Target,
    index: IndexName = None,
    neighbours: Annotated[int, Query(ge=0, le=200, description="Maximum of callers, and of callees.")] = 50,
) -> SymbolPage:
    """Return a symbol with its source as indexed, the outline of its file, its callers and callees."""
    with open_target(state.indexes, index, target) as match:
        return symbol_page(match, neighbours)


@router.get(
    "/related", operation_id="related", response_model=document_model(RelatedPage), summary="Similar symbols"
)
@in_slow_thread
def related(
    state: State,
    target: Target,
    index: IndexName = None,
    k: Annotated[int, Query(ge=1, le=100, description="Number of neighbours, and of cluster members.")] = 10,
) -> dict[str, Any]:
    """Return the nearest symbols by embedding, and the cluster that a symbol belongs to."""
    with open_target(state.indexes, index, target) as match:
        served = match.served
        encoder = served.index.encoder
        if encoder is None:
            raise DowseError("there is no encoder, so there are no embeddings; set `encoder`, e.g. to base")
        return document(RelatedPage(served.name, related_to(match, encoder.id, k)))


@router.get(
    "/graph/path",
    operation_id="graphPath",
    response_model=document_model(GraphPage),
    summary="From one symbol to another",
)
@in_slow_thread
def graph_path(
    state: State, target: Target, to: Target, index: IndexName = None, depth: _Depth = None
) -> dict[str, Any]:
    """Return the shortest path of calls and uses from one symbol to another."""
    with open_target(state.indexes, index, target, names_at_lines=True) as start:
        served, reader, row = start
        ends = resolve_overloads(served, reader, to)
        starts = resolve_overloads(served, reader, row.key)
        return document(_page(served.name, find_path_between(reader, starts, ends, depth)))


@router.get(
    "/graph/{relation}",
    operation_id="graph",
    response_model=document_model(GraphPage),
    summary="Traverse the call graph",
)
@in_slow_thread
def graph(
    state: State,
    relation: Relation,
    target: Target,
    index: IndexName = None,
    depth: _Depth = None,
    k: Annotated[int | None, Query(ge=1, le=1_000, description="Number of steps.")] = None,
) -> dict[str, Any]:
    """Return the symbols in a relation to one, nearest first, and the same as nodes and edges."""
    with open_target(state.indexes, index, target, names_at_lines=True) as start:
        return document(_page(start.served.name, walk(start, relation, depth, k)))


def _page(index: str, answer: GraphAnswer) -> GraphPage:
    """Return an answer with its symbols as nodes, and one edge for all references of a kind between two."""
    depths = {step.symbol.row: step.depth for step in reversed(answer.steps)}
    seeds = {seed.row for seed in answer.seeds}
    nodes = [
        Node(symbol, 0 if row in seeds else depths[row], is_test(symbol), row in seeds)
        for row, symbol in shown_symbols(answer).items()
    ]
    return GraphPage(index, answer, nodes, list(arrows(answer)))
