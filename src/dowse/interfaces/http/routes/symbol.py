"""`GET /api/symbol`: a symbol with its source, the outline of its file, its callers and callees."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from dowse.formats.answer_json import notes_to_json
from dowse.interfaces.http.routes.parameters import IndexName, Target
from dowse.interfaces.http.state import ServerState, State
from dowse.services.models.symbol import SymbolAnswer
from dowse.services.symbol_page import symbol_page
from dowse.services.targets import open_target

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


def _symbol(state: ServerState, index: str | None, name: str, neighbours: int) -> dict[str, Any]:
    with open_target(state.indexes, index, name) as target:
        data = symbol_page(target, neighbours)
    return {**data, "notes": notes_to_json(data["notes"])}
