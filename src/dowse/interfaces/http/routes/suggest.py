"""`GET /api/suggest`: while somebody types."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query

from dowse.interfaces.http.models.suggest import Suggestions
from dowse.interfaces.http.routes.parameters import IndexName
from dowse.interfaces.http.state import State
from dowse.services.suggest import suggest as ways_on

router = APIRouter()


@router.get("/suggest", operation_id="suggest", response_model=Suggestions, summary="While typing")
async def suggest(
    state: State,
    q: Annotated[str, Query(max_length=1_000, description="The query so far.")] = "",
    index: IndexName = None,
    k: Annotated[int, Query(ge=1, le=20, description="How many suggestions.")] = 8,
) -> dict[str, Any]:
    """Suggest names, questions asked before, and filters; all from memory, so it answers at once."""
    started = time.perf_counter()
    places = state.places.chosen(index)
    books = [(place.name, names) for place in places if (names := place.names.at_hand())]
    asked = [each for place in places if state.records(place) for each in place.questions.at_hand()]
    found = ways_on(q, books, asked, k)
    took = round(1000 * (time.perf_counter() - started), 3)
    return {"query": q, "suggestions": [asdict(way) for way in found], "took_ms": took}
