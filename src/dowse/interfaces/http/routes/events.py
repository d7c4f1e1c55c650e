"""`POST /api/reindex` and `GET /api/events`: bring indexes up to date, and hear how far that is."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from dowse.interfaces.http.models.status import Progress, ReindexAnswer, ReindexRequest
from dowse.interfaces.http.state import State
from dowse.services.events import ProgressEvent

router = APIRouter()


class EventStream(StreamingResponse):
    """Server-sent events, which nobody may keep."""

    media_type = "text/event-stream"


@router.post(
    "/reindex",
    operation_id="reindex",
    response_model=ReindexAnswer,
    status_code=202,
    summary="Bring up to date",
)
async def reindex(state: State, request: ReindexRequest) -> dict[str, Any]:
    """Put one index, or all, in line to be brought up to date; searches go on meanwhile."""
    places = state.places.chosen(request.index)
    started = [place.name for place in places if state.refresher.refresh(place, rebuild=request.rebuild)]
    return {"started": started, "waiting": [place.name for place in places if place.name not in started]}


@router.get(
    "/events",
    operation_id="events",
    response_class=EventStream,
    responses={
        200: {
            "model": Progress,
            "description": "Server-sent events called `progress`; the data of each is one `Progress`.",
        }
    },
    summary="Hear how far it is",
)
async def events(state: State) -> EventStream:
    """Send the latest of every index, and then each step as it happens; the stream stays open."""
    held = contextlib.ExitStack()
    heard = held.enter_context(state.broker.subscribe())
    return EventStream(
        _written(heard, held), headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    )


async def _written(
    heard: AsyncIterator[ProgressEvent | None], held: contextlib.ExitStack
) -> AsyncIterator[str]:
    """Write events as the browser's EventSource reads them; a comment shows that the line is alive."""
    with held:
        yield "retry: 2000\n\n"
        async for event in heard:
            if event is None:
                yield ": quiet\n\n"
            else:
                yield f"id: {event.number}\nevent: progress\ndata: {json.dumps(asdict(event))}\n\n"
