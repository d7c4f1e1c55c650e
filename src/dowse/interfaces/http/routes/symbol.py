"""`GET /api/symbol`, `GET /api/related`: one symbol with its source and neighbours, and similar symbols."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from dowse.errors import DowseError
from dowse.formats.json_format import notes_to_json, related_to_json
from dowse.interfaces.http.routes.parameters import IndexName, Target
from dowse.interfaces.http.state import ServerState, State
from dowse.services.models.symbol import RelatedAnswer, SymbolAnswer
from dowse.services.symbol_page import symbol_page
from dowse.services.targets import open_target, related_to

router = APIRouter()


@router.get("/symbol", operation_id="symbol", response_model=SymbolAnswer, summary="One symbol")
async def symbol(
    state: State,
    target: Target,
    index: IndexName = None,
    neighbours: Annotated[int, Query(ge=0, le=200, description="Maximum of callers, and of callees.")] = 50,
) -> dict[str, Any]:
    """Return a symbol with its source as indexed, the outline of its file, its callers and callees."""
    return await state.threads.run(lambda: _symbol(state, index, target, neighbours))


@router.get("/related", operation_id="related", response_model=RelatedAnswer, summary="Similar symbols")
async def related(
    state: State,
    target: Target,
    index: IndexName = None,
    k: Annotated[int, Query(ge=1, le=100, description="Number of neighbours, and of cluster members.")] = 10,
) -> dict[str, Any]:
    """Return the nearest symbols by embedding, and the cluster that a symbol belongs to."""
    return await state.threads.run(lambda: _related(state, index, target, k))


def _symbol(state: ServerState, index: str | None, name: str, neighbours: int) -> dict[str, Any]:
    with open_target(state.indexes, index, name) as target:
        data = symbol_page(target, neighbours)
    return {**data, "notes": notes_to_json(data["notes"])}


def _related(state: ServerState, index: str | None, name: str, k: int) -> dict[str, Any]:
    with open_target(state.indexes, index, name) as target:
        served = target.served
        encoder = served.index.encoder
        if encoder is None:
            raise DowseError("there is no encoder, so there are no embeddings; set `encoder`, e.g. to base")
        answer = related_to_json(related_to(target, encoder.id, k))
    del answer["notes"]  # the model of this route has none; masked texts show it themselves
    for hits in (answer["neighbours"], (answer["cluster"] or {}).get("members", ())):
        for hit in hits:
            hit["index"] = served.name
    return {"index": served.name, **answer}
