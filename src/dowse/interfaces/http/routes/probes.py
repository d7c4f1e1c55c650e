"""For those who run a server, where they look for it: probes and metrics.

Liveness (`/livez`, `/healthz`: whether to restart the server) and readiness (`/readyz`: whether to send it
requests) need no token. `/metrics` has the names of indexes, and needs it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from starlette.responses import JSONResponse, Response

from dowse.errors import DowseError
from dowse.interfaces.http.state import State
from dowse.services.indexes import ServedIndex

router = APIRouter(tags=["server"])


@router.get("/livez", include_in_schema=False)
@router.get("/healthz", include_in_schema=False)
async def live() -> JSONResponse:
    """Answer while the event loop runs, whatever the indexes are like: a restart would not mend those."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz", include_in_schema=False)
async def ready(state: State) -> JSONResponse:
    """Say 200 once every index can be read and its lanes have started, else 503."""
    # Not in the pool of searches: an overloaded server is ready, too, and refuses what is too much.
    indexes = await asyncio.to_thread(lambda: [_readiness(served) for served in state.indexes])
    is_ready = all(each["ready"] for each in indexes)
    body = {"status": "ready" if is_ready else "starting", "indexes": indexes}
    return JSONResponse(body, 200 if is_ready else 503)


@router.get(
    "/metrics", operation_id="metrics", response_class=PlainTextResponse, summary="Prometheus metrics"
)
async def metrics(state: State) -> Response:
    """Return all metrics in the Prometheus text format."""
    # Not in the pool of searches: an overloaded server is watched, too.
    text = await asyncio.to_thread(state.metrics.text)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def _readiness(served: ServedIndex) -> dict[str, Any]:
    """Return the state of an index, without names and paths: anybody may ask.

    A lane whose process keeps dying does not count: searches are answered without it, and say so.
    """
    try:
        with served.index.backend.reader() as reader:
            generation = reader.generation
    except (DowseError, OSError):
        return {"ready": False, "generation": 0, "lanes": {}}
    served.index.internals.warm()  # one that died while nobody searched starts again
    lanes = served.index.internals.lanes.states()
    return {"ready": "starting" not in lanes.values(), "generation": generation, "lanes": lanes}
