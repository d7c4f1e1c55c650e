"""`/api/status`, `skipped`, `health`, `metrics`, `reindex`, `events`: the state of indexes and server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import asdict
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse, StreamingResponse
from starlette.responses import Response

from dowse.errors import DowseError
from dowse.interfaces.http.state import IndexName, State, in_thread
from dowse.services.events import ProgressEvent
from dowse.services.indexes import ServedIndex, index_status, server_status
from dowse.services.models.status import Health, Progress, ReindexAnswer, ReindexRequest, SkippedFiles, Status
from dowse.version import __version__
from dowse.watch.messages import Task

router = APIRouter()


@router.get("/status", operation_id="status", response_model=Status, summary="Status of the indexes")
async def status(state: State, index: IndexName = None) -> Status:
    """Return the status of every index: its size, how much of it is embedded, and what changed since."""
    jobs = [partial(index_status, served, state.broker) for served in state.indexes.select(index)]
    indexes = await asyncio.gather(*map(state.threads.run, jobs))
    return server_status(indexes, feedback=state.options.feedback)


@router.get("/skipped", operation_id="skipped", response_model=SkippedFiles, summary="Skipped files")
@in_thread
def skipped(
    state: State,
    index: IndexName = None,
    reason: Annotated[str, Query(max_length=200, description="Only files with this reason.")] = "",
    k: Annotated[int, Query(ge=1, le=500, description="Number of files.")] = 100,
    offset: Annotated[int, Query(ge=0, description="Files to skip.")] = 0,
) -> dict[str, Any]:
    """List the files that are not indexed, or only partly, with the reason; a page at a time."""
    files = _skipped(state.indexes.select(index))
    counts = Counter(each["reason"] for each in files)
    matching = [each for each in files if not reason or each["reason"] == reason]
    return {
        "total": len(matching),
        "offset": offset,
        "more": len(matching) > offset + k,
        "reasons": [{"reason": name, "files": count} for name, count in counts.most_common(50)],
        "files": matching[offset : offset + k],
    }


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


@router.get(
    "/metrics", operation_id="metrics", response_class=PlainTextResponse, summary="Prometheus metrics"
)
async def metrics(state: State) -> Response:
    """Return all metrics in the Prometheus text format."""
    # Not in the pool of searches: an overloaded server is watched, too.
    text = await asyncio.to_thread(state.metrics.text)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def _skipped(indexes: list[ServedIndex]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for served in indexes:
        if not served.index.exists:
            continue
        partly = [(file.path, file.problem) for file in served.index.files_with_problems()]
        for indexed, files in ((False, served.index.skipped()), (True, partly)):
            rows += [
                {"index": served.name, "path": path, "reason": reason, "indexed": indexed}
                for path, reason in files
            ]
    return rows


def _health(served: ServedIndex) -> dict[str, Any]:
    try:
        with served.index.backend.reader() as reader:
            detail, ready = f"generation {reader.generation}", True
    except (DowseError, OSError) as error:
        detail, ready = str(error), False
    return {"name": served.name, "ready": ready, "detail": detail}


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
    task: Task = "rebuild" if request.rebuild else "update"
    started = [each.name for each in selected if state.engine.refresh(each, task)]
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
                data = json.dumps(asdict(event), separators=(",", ":"))
                yield f"id: {event.number}\nevent: progress\ndata: {data}\n\n"
