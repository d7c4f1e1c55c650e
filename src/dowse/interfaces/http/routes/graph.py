"""`GET /api/graph/{relation}`: walks from a symbol, as steps and as a picture."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query

from dowse.formats.json_format import graph_to_json, symbol_to_json
from dowse.graph.answer import GraphAnswer as Walk
from dowse.graph.answer import GraphStep
from dowse.graph.diagram_edges import arrows, shown_symbols
from dowse.graph.queries import ask_about, path_between
from dowse.interfaces.http.choices import EdgeKind, Relation
from dowse.interfaces.http.models.graph import GraphAnswer
from dowse.interfaces.http.routes.parameters import IndexName, Target
from dowse.interfaces.http.state import ServerState, State
from dowse.services.targets import found, rows_of

router = APIRouter()
_DRAWN = ("id", "kind", "name", "qualified_name", "path", "language", "role", "start_line")
_Kinds = Annotated[list[EdgeKind], Query(max_length=10, description="Only these kinds of references.")]


_Depth = Annotated[
    int | None, Query(ge=1, le=20, description="Hops to walk; by default as is usual for the question.")
]


@router.get(
    "/graph/path", operation_id="graphPath", response_model=GraphAnswer, summary="From one symbol to another"
)
async def graph_path(
    state: State, target: Target, to: Target, index: IndexName = None, depth: _Depth = None
) -> dict[str, Any]:
    """Give the shortest chain of calls and uses from one symbol to another."""
    return await state.workers.run(lambda: _chain(state, target, to, index, depth))


@router.get(
    "/graph/{relation}", operation_id="graph", response_model=GraphAnswer, summary="Walk the code graph"
)
async def graph(
    state: State,
    relation: Relation,
    target: Target,
    index: IndexName = None,
    depth: _Depth = None,
    k: Annotated[int | None, Query(ge=1, le=1_000, description="How many steps to give.")] = None,
    kinds: _Kinds = [],  # noqa: B006 - never changed
) -> dict[str, Any]:
    """Give what stands in a relation to a symbol, nearest first, and the same as nodes and edges."""
    return await state.workers.run(lambda: _walk(state, relation, target, index, depth, k, kinds))


def _chain(state: ServerState, target: str, to: str, index: str | None, depth: int | None) -> dict[str, Any]:
    with found(state.places, index, target) as (place, reader, row):
        ends = rows_of(place, reader, to)
        shows = place.index.settings.show_secrets
        chain = path_between(reader, rows_of(place, reader, row.key), ends, depth, show_secrets=shows)
        return {"index": place.name, **graph_to_json(chain), **_picture(chain)}


def _walk(
    state: ServerState,
    relation: str,
    target: str,
    index: str | None,
    depth: int | None,
    k: int | None,
    kinds: Collection[str],
) -> dict[str, Any]:
    with found(state.places, index, target) as (place, reader, row):
        seeds, shows = rows_of(place, reader, row.key), place.index.settings.show_secrets
        walk = ask_about(reader, relation, seeds, depth, k, show_secrets=shows)
        walk = _only(walk, kinds) if kinds else walk
        return {"index": place.name, **graph_to_json(walk), **_picture(walk)}


def _only(walk: Walk, kinds: Collection[str]) -> Walk:
    """Leave out what is reached by other kinds of references, and all that is reached only through it."""
    new_place = {-1: -1}
    steps: list[GraphStep] = []
    for number, step in enumerate(walk.steps):
        references = tuple(edge for edge in step.references if edge.kind in kinds)
        if not references or step.parent not in new_place:
            continue
        new_place[number] = len(steps)
        steps.append(replace(step, references=references, parent=new_place[step.parent]))
    edges = tuple(edge for edge in walk.edges if edge.kind in kinds)
    left_out = len(walk.steps) - len(steps)
    note = f"{left_out} reached by other kinds of references are left out"
    notes = (*walk.notes, note) if left_out else walk.notes
    return replace(walk, steps=tuple(steps), edges=edges, notes=notes)


def _picture(walk: Walk) -> dict[str, Any]:
    """Return the symbols of a walk as nodes, and one edge for all references of a kind between two."""
    symbols = shown_symbols(walk)
    depths = {step.symbol.row: step.depth for step in reversed(walk.steps)}
    seeds = {seed.row for seed in walk.seeds}
    nodes = [
        {
            # Secrets were masked when the walk was made.
            **{
                name: value
                for name, value in symbol_to_json(symbol, show_secrets=True).items()
                if name in _DRAWN
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
        for arrow in arrows(walk)
    ]
    return {"nodes": nodes, "edges": edges}
