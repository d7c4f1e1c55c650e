"""`GET /api/health`: whether the server answers, and from what."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from fastapi import APIRouter

from dowse.errors import DowseError
from dowse.interfaces.http.models.status import Health
from dowse.interfaces.http.state import State
from dowse.services.indexes import Place
from dowse.version import __version__

router = APIRouter()


@router.get("/health", operation_id="health", response_model=Health, summary="Is it well")
async def health(state: State) -> dict[str, Any]:
    """Say whether every index can be read; always 200 while the server answers at all."""
    # Not among the searches: also a server that has too much to do is well.
    found = await asyncio.to_thread(lambda: [_health(place) for place in state.places])
    return {
        "status": "ok" if all(each["ready"] for each in found) else "starting",
        "dowse": __version__,
        "uptime_s": round(time.monotonic() - state.started, 3),
        "indexes": found,
    }


def _health(place: Place) -> dict[str, Any]:
    try:
        with place.index.backend.reader() as reader:
            detail = f"generation {reader.generation}"
    except (DowseError, OSError) as error:
        return {"name": place.name, "ready": False, "detail": str(error)}
    return {"name": place.name, "ready": True, "detail": detail}
