"""`GET /api/symbol`, `/api/related`, `/api/graph/…`: one symbol, similar ones, walks of the call graph."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query

from dowse.errors import DowseError
from dowse.formats.json_format import graph_to_json, notes_to_json, related_to_json, symbol_to_json
from dowse.graph.drawing import arrows, shown_symbols
from dowse.graph.model import GraphAnswer, GraphStep
from dowse.graph.queries import find_path_between
from dowse.interfaces.http.state import IndexName, State, Target, in_slow_thread, in_thread
from dowse.services.models.symbol import EdgeKind, RelatedAnswer, Relation, SymbolAnswer
from dowse.services.models.symbol import GraphAnswer as GraphModel
from dowse.services.symbol_page import symbol_page
from dowse.services.targets import open_target, related_to, resolve_overloads, walk
from dowse.types import Note, is_test

router = APIRouter()
_NODE_FIELDS = ("id", "kind", "name", "qualified_name", "path", "language", "role", "start_line")
_Kinds = Annotated[list[EdgeKind], Query(max_length=10, description="Only these kinds of references.")]
_Depth = Annotated[
    int | None, Query(ge=1, le=20, description="Maximum number of hops; the default depends on the relation.")
]


@router.get("/symbol", operation_id="symbol", response_model=SymbolAnswer, summary="One symbol")
@in_thread
def symbol(
    state: State,
    target: Target,
    index: IndexName = None,
    neighbours: Annotated[int, Query(ge=0, le=200, description="Maximum of callers, and of callees.")] = 50,
) -> dict[str, Any]:
    """Return a symbol with its source as indexed, the outline of its file, its callers and callees."""
    with open_target(state.indexes, index, target) as match:
        data = symbol_page(match, neighbours)
    return {**data, "notes": notes_to_json(data["notes"])}


@router.get("/related", operation_id="related", response_model=RelatedAnswer, summary="Similar symbols")
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
        answer = related_to_json(related_to(match, encoder.id, k))
    for hits in (answer["neighbours"], (answer["cluster"] or {}).get("members", ())):
        for hit in hits:
            hit["index"] = served.name
    return {"index": served.name, **answer}


@router.get(
    "/graph/path", operation_id="graphPath", response_model=GraphModel, summary="From one symbol to another"
)
@in_slow_thread
def graph_path(
    state: State, target: Target, to: Target, index: IndexName = None, depth: _Depth = None
) -> dict[str, Any]:
    """Return the shortest path of calls and uses from one symbol to another."""
    with open_target(state.indexes, index, target) as start:
        served, reader, row = start
        ends = resolve_overloads(served, reader, to)
        starts = resolve_overloads(served, reader, row.key)
        answer = find_path_between(reader, starts, ends, depth)
    return {"index": served.name, **graph_to_json(answer), **_drawing(answer)}


@router.get(
    "/graph/{relation}", operation_id="graph", response_model=GraphModel, summary="Traverse the call graph"
)
@in_slow_thread
def graph(
    state: State,
    relation: Relation,
    target: Target,
    index: IndexName = None,
    depth: _Depth = None,
    k: Annotated[int | None, Query(ge=1, le=1_000, description="Number of steps.")] = None,
    kinds: _Kinds = [],  # noqa: B006 - never changed
) -> dict[str, Any]:
    """Return the symbols in a relation to one, nearest first, and the same as nodes and edges."""
    with open_target(state.indexes, index, target) as start:
        answer = walk(start, relation, depth, k)
    answer = _filter_kinds(answer, kinds) if kinds else answer
    return {"index": start.served.name, **graph_to_json(answer), **_drawing(answer)}


def _filter_kinds(answer: GraphAnswer, kinds: Collection[str]) -> GraphAnswer:
    """Drop steps that other kinds of references lead to, and those reached only through them."""
    positions = {-1: -1}  # of the steps that are kept, by their old position
    steps: list[GraphStep] = []
    for number, step in enumerate(answer.steps):
        references = tuple(edge for edge in step.references if edge.kind in kinds)
        if not references or step.parent not in positions:
            continue
        positions[number] = len(steps)
        steps.append(replace(step, references=references, parent=positions[step.parent]))
    edges = tuple(edge for edge in answer.edges if edge.kind in kinds)
    dropped = len(answer.steps) - len(steps)
    note = Note("graph", f"{dropped} reached by other kinds of references are left out")
    notes = (*answer.notes, note) if dropped else answer.notes
    return replace(answer, steps=tuple(steps), edges=edges, notes=notes)


def _drawing(answer: GraphAnswer) -> dict[str, Any]:
    """Return the symbols of an answer as nodes, and one edge for all references of a kind between two."""
    symbols = shown_symbols(answer)
    depths = {step.symbol.row: step.depth for step in reversed(answer.steps)}
    seeds = {seed.row for seed in answer.seeds}
    nodes = [
        {
            **{name: value for name, value in symbol_to_json(symbol).items() if name in _NODE_FIELDS},
            "depth": 0 if row in seeds else depths[row],
            "test": is_test(symbol),
            "seed": row in seeds,
        }
        for row, symbol in symbols.items()
    ]
    edges = [
        {
            "source": symbols[arrow.source].key,
            "target": symbols[arrow.target].key,
            "kind": arrow.kind,
            "line": arrow.line,
            "sure": arrow.is_sure,
            "certainty": arrow.certainty,
        }
        for arrow in arrows(answer)
    ]
    return {"nodes": nodes, "edges": edges}
