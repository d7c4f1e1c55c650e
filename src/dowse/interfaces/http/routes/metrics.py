"""`GET /api/metrics`: Prometheus metrics."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from starlette.responses import Response

from dowse.interfaces.http.state import State

router = APIRouter()


@router.get(
    "/metrics", operation_id="metrics", response_class=PlainTextResponse, summary="Prometheus metrics"
)
async def metrics(state: State) -> Response:
    """Return all metrics in the Prometheus text format."""
    text = await state.threads.run(state.metrics.text)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")
