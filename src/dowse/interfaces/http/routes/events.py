"""`POST /api/reindex` and `GET /api/events`: update indexes, and follow the progress."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from dowse.interfaces.http.state import State
from dowse.services.events import ProgressEvent
from dowse.services.models.status import Progress, ReindexAnswer, ReindexRequest

router = APIRouter()


class EventStream(StreamingResponse):
    """A response of server-sent events."""

    media_type = "text/event-stream"


@router.post(
    "/reindex",
    operation_id="reindex",
    response_model=ReindexAnswer,
    status_code=202,
    summary="Update indexes",
)
async def reindex(state: State, request: ReindexRequest) -> dict[str, Any]:
    """Queue an update of one index, or of all; searches continue meanwhile."""
    selected = state.indexes.select(request.index)
    started = [each.name for each in selected if state.refresher.refresh(each, rebuild=request.rebuild)]
    return {"started": started, "waiting": [each.name for each in selected if each.name not in started]}


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
    summary="Follow the progress",
)
async def events(state: State) -> EventStream:
    """Send the latest event of every index, and then each event as it happens; the stream stays open."""
    stack = contextlib.ExitStack()
    events = stack.enter_context(state.broker.subscribe())
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return EventStream(_serialize(events, stack), headers=headers)


async def _serialize(
    events: AsyncIterator[ProgressEvent | None], stack: contextlib.ExitStack
) -> AsyncIterator[str]:
    """Write events in the format of the browser's EventSource; comments keep the connection alive."""
    with stack:
        yield "retry: 2000\n\n"
        async for event in events:
            if event is None:
                yield ": quiet\n\n"
            else:
                yield f"id: {event.number}\nevent: progress\ndata: {json.dumps(asdict(event))}\n\n"
