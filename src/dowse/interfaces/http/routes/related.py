"""`GET /api/related`: what is like a symbol."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from dowse.errors import DowseError
from dowse.formats.json_format import related_to_json
from dowse.interfaces.http.models.symbol import RelatedAnswer
from dowse.interfaces.http.routes.parameters import IndexName, Target
from dowse.interfaces.http.state import ServerState, State
from dowse.search.related import related as find_related
from dowse.services.targets import check_symbol, found

router = APIRouter()


@router.get("/related", operation_id="related", response_model=RelatedAnswer, summary="What is alike")
async def related(
    state: State,
    target: Target,
    index: IndexName = None,
    k: Annotated[int, Query(ge=1, le=100, description="Neighbours, and members of its cluster.")] = 10,
) -> dict[str, Any]:
    """Give the symbols nearest in meaning, and the cluster that a symbol belongs to."""
    return await state.workers.run(lambda: _alike(state, index, target, k))


def _alike(state: ServerState, index: str | None, target: str, k: int) -> dict[str, Any]:
    with found(state.places, index, target) as (place, reader, row):
        encoder = place.index.encoder
        if encoder is None:
            raise DowseError(
                "there is no encoder, so nothing is known of meaning; set `encoder`, e.g. to base"
            )
        check_symbol(row)
        settings = place.index.settings
        found_alike = find_related(
            *(reader, encoder.id, row, k, settings.vectors), show_secrets=settings.show_secrets
        )
        answer = related_to_json(found_alike)
        del answer["notes"]  # the model of this route has none; masked texts show it themselves
    for hits in (answer["neighbours"], (answer["cluster"] or {}).get("members", ())):
        for hit in hits:
            hit["index"] = place.name
    return {"index": place.name, **answer}
