"""`GET /api/graph/{relation}`: traversals of the call graph, as steps and as nodes and edges to draw."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query

from dowse.formats.json_format import graph_to_json, symbol_to_json
from dowse.graph.diagrams import arrows, shown_symbols
from dowse.graph.model import GraphAnswer, GraphStep
from dowse.graph.queries import find_path_between
from dowse.interfaces.http.routes.parameters import IndexName, Target
from dowse.interfaces.http.state import ServerState, State
from dowse.services.choices import EdgeKind, Relation
from dowse.services.models.graph import GraphAnswer as GraphModel
from dowse.services.targets import open_target, resolve_overloads, walk
from dowse.types import Note

router = APIRouter()
_NODE_FIELDS = ("id", "kind", "name", "qualified_name", "path", "language", "role", "start_line")
_Kinds = Annotated[list[EdgeKind], Query(max_length=10, description="Only these kinds of references.")]
_Depth = Annotated[
    int | None, Query(ge=1, le=20, description="Maximum number of hops; the default depends on the relation.")
]


@router.get(
    "/graph/path", operation_id="graphPath", response_model=GraphModel, summary="From one symbol to another"
)
async def graph_path(
    state: State, target: Target, to: Target, index: IndexName = None, depth: _Depth = None
) -> dict[str, Any]:
    """Return the shortest path of calls and uses from one symbol to another."""
    return await state.threads.run(lambda: _path(state, target, to, index, depth))


@router.get(
    "/graph/{relation}", operation_id="graph", response_model=GraphModel, summary="Traverse the call graph"
)
async def graph(
    state: State,
    relation: Relation,
    target: Target,
    index: IndexName = None,
    depth: _Depth = None,
    k: Annotated[int | None, Query(ge=1, le=1_000, description="Number of steps.")] = None,
    kinds: _Kinds = [],  # noqa: B006 - never changed
) -> dict[str, Any]:
    """Return the symbols in a relation to one, nearest first, and the same as nodes and edges."""
    return await state.threads.run(lambda: _walk(state, relation, target, index, depth, k, kinds))


def _path(state: ServerState, start: str, end: str, index: str | None, depth: int | None) -> dict[str, Any]:
    with open_target(state.indexes, index, start) as target:
        served, reader, row = target
        ends = resolve_overloads(served, reader, end)
        starts = resolve_overloads(served, reader, row.key)
        answer = find_path_between(reader, starts, ends, depth, show_secrets=target.show_secrets)
    return {"index": served.name, **graph_to_json(answer), **_drawing(answer)}


def _walk(
    state: ServerState,
    relation: str,
    name: str,
    index: str | None,
    depth: int | None,
    k: int | None,
    kinds: Collection[str],
) -> dict[str, Any]:
    with open_target(state.indexes, index, name) as target:
        answer = walk(target, relation, depth, k)
    answer = _filter_kinds(answer, kinds) if kinds else answer
    return {"index": target.served.name, **graph_to_json(answer), **_drawing(answer)}


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
            # The answer is masked already.
            **{
                name: value
                for name, value in symbol_to_json(symbol, show_secrets=True).items()
                if name in _NODE_FIELDS
            },
            "depth": 0 if row in seeds else depths[row],
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
