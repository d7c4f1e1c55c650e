"""Liveness (`/livez`: whether to restart the server) and readiness (`/readyz`: whether to send requests).

Neither needs a token.
"""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse

from dowse.errors import DowseError
from dowse.interfaces.http.state import State
from dowse.services.indexes import ServedIndex

router = APIRouter(include_in_schema=False)


@router.get("/livez")
async def live() -> JSONResponse:
    """Answer while the event loop runs, whatever the indexes are like: a restart would not mend those."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz")
async def ready(state: State) -> JSONResponse:
    """Say 200 once every index can be read and its lanes have started, else 503."""
    # Not in the pool of searches: an overloaded server is ready, too, and refuses what is too much.
    indexes = await asyncio.to_thread(lambda: [_readiness(served) for served in state.indexes])
    is_ready = all(each["ready"] for each in indexes)
    body = {"status": "ready" if is_ready else "starting", "indexes": indexes}
    return JSONResponse(body, 200 if is_ready else 503)


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
