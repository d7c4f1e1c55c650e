"""`GET /api/metrics`."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from starlette.responses import Response

from dowse.interfaces.http.state import State

router = APIRouter()


@router.get(
    "/metrics", operation_id="metrics", response_class=PlainTextResponse, summary="Figures for Prometheus"
)
async def metrics(state: State) -> Response:
    """Give counters, times and what is indexed, as Prometheus reads them."""
    text = await state.workers.run(state.metrics.text)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")
