"""`GET /api/suggest`: suggestions while a query is typed."""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import APIRouter, Query

from dowse.interfaces.http.routes.parameters import IndexName
from dowse.interfaces.http.state import State
from dowse.services.models.suggest import Suggestions
from dowse.services.suggest import suggest as make_suggestions

router = APIRouter()


@router.get("/suggest", operation_id="suggest", response_model=Suggestions, summary="Suggestions")
async def suggest(
    state: State,
    q: Annotated[str, Query(max_length=1_000, description="The query so far.")] = "",
    index: IndexName = None,
    k: Annotated[int, Query(ge=1, le=20, description="Number of suggestions.")] = 8,
) -> dict[str, Any]:
    """Suggest symbol names, past queries and filters; all from memory, so it answers at once."""
    started = time.perf_counter()
    selected = state.indexes.select(index)
    tables = [(served.name, table) for served in selected if (table := served.names.cached())]
    past = [
        each for served in selected if state.records_feedback(served) for each in served.past_queries.cached()
    ]
    suggestions = make_suggestions(q, tables, past, k)
    took = round(1000 * (time.perf_counter() - started), 3)
    return {"query": q, "suggestions": suggestions, "took_ms": took}
