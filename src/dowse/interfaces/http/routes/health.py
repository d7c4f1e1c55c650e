"""`GET /api/health`: whether the server can answer."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from fastapi import APIRouter

from dowse.errors import DowseError
from dowse.interfaces.http.state import State
from dowse.services.indexes import ServedIndex
from dowse.services.models.status import Health
from dowse.version import __version__

router = APIRouter()


@router.get("/health", operation_id="health", response_model=Health, summary="Health check")
async def health(state: State) -> dict[str, Any]:
    """Say whether every index can be read; always 200 while the server answers at all."""
    # Not in the pool of searches: an overloaded server is healthy, too.
    indexes = await asyncio.to_thread(lambda: [_health(served) for served in state.indexes])
    return {
        "status": "ok" if all(each["ready"] for each in indexes) else "starting",
        "dowse": __version__,
        "uptime_s": round(time.monotonic() - state.started, 3),
        "indexes": indexes,
    }


def _health(served: ServedIndex) -> dict[str, Any]:
    try:
        with served.index.backend.reader() as reader:
            detail, ready = f"generation {reader.generation}", True
    except (DowseError, OSError) as error:
        detail, ready = str(error), False
    return {"name": served.name, "ready": ready, "detail": detail}
