"""`/api/v1/status`, `skipped`, `health`, `reindex`, `events`: the state of indexes and server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from dowse.errors import DowseError
from dowse.interfaces.http.state import IndexName, State, in_thread
from dowse.json_form import to_json
from dowse.lazy_classes import dataclass
from dowse.services.events import ProgressEvent
from dowse.services.indexes import ServedIndex, Status, index_status, server_status
from dowse.services.schemas import model
from dowse.version import __version__
from dowse.watch.messages import Task

router = APIRouter(tags=["indexes"])
# Reasons that are counted for the skipped files.
_MAX_REASONS = 50


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that is not indexed, or only partly."""

    index: str
    path: str
    reason: str
    indexed: bool  # whether part of it is in the index


@dataclass(frozen=True, slots=True)
class Reason:
    """The number of files with a reason."""

    reason: str
    files: int


@dataclass(frozen=True, slots=True)
class SkippedFiles:
    """A page of skipped files."""

    total: int
    offset: int
    more: bool
    reasons: list[Reason]  # of all skipped files, most files first
    files: list[SkippedFile]


@dataclass(frozen=True, slots=True)
class IndexHealth:
    """Whether one index can be read."""

    name: str
    ready: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Health:
    """The health of the server."""

    status: Literal["ok", "starting"]
    dowse: str
    uptime_s: float
    indexes: list[IndexHealth]


class ReindexRequest(BaseModel):
    """Which index to update."""

    model_config = ConfigDict(extra="forbid", strict=True)

    index: str | None = Field(default=None, description="Its name; null for all.")
    rebuild: bool = Field(default=False, description="Delete the old index first.")


@dataclass(frozen=True, slots=True)
class ReindexAnswer:
    """What was queued; `/api/v1/events` reports the progress."""

    started: list[str]  # indexes that were queued
    waiting: list[str]  # indexes that were queued already


@router.get("/status", operation_id="status", response_model=model(Status), summary="Status of the indexes")
async def status(state: State, index: IndexName = None) -> Any:  # noqa: ANN401 - JSON
    """Return the status of every index: its size, how much of it is embedded, and what changed since."""
    jobs = [partial(index_status, served, state.broker) for served in state.indexes.select(index)]
    indexes = await asyncio.gather(*map(state.threads.run, jobs))
    return to_json(server_status(indexes, feedback=state.options.feedback))


@router.get("/skipped", operation_id="skipped", response_model=model(SkippedFiles), summary="Skipped files")
@in_thread
def skipped(
    state: State,
    index: IndexName = None,
    reason: Annotated[str, Query(max_length=200, description="Only files with this reason.")] = "",
    k: Annotated[int, Query(ge=1, le=500, description="Number of files.")] = 100,
    offset: Annotated[int, Query(ge=0, description="Files to skip.")] = 0,
) -> SkippedFiles:
    """List the files that are not indexed, or only partly, with the reason; a page at a time."""
    files = _skipped(state.indexes.select(index))
    counts = Counter(each.reason for each in files)
    matching = [each for each in files if not reason or each.reason == reason]
    return SkippedFiles(
        total=len(matching),
        offset=offset,
        more=len(matching) > offset + k,
        reasons=[Reason(name, count) for name, count in counts.most_common(_MAX_REASONS)],
        files=matching[offset : offset + k],
    )


@router.get("/health", operation_id="health", response_model=model(Health), summary="Health check")
async def health(state: State) -> Any:  # noqa: ANN401 - JSON
    """Say whether every index can be read; always 200 while the server answers at all."""
    # Not in the pool of searches: an overloaded server is healthy, too.
    indexes = await asyncio.to_thread(lambda: [_health(served) for served in state.indexes])
    is_ready = all(each.ready for each in indexes)
    uptime = time.monotonic() - state.started
    return to_json(Health("ok" if is_ready else "starting", __version__, uptime, indexes))


def _skipped(indexes: list[ServedIndex]) -> list[SkippedFile]:
    found: list[SkippedFile] = []
    for served in indexes:
        if served.index.exists:
            partly = [(file.path, file.problem) for file in served.index.contents.files_with_problems()]
            found += [
                SkippedFile(served.name, *each, indexed=False) for each in served.index.contents.skipped()
            ]
            found += [SkippedFile(served.name, *each, indexed=True) for each in partly]
    return found


def _health(served: ServedIndex) -> IndexHealth:
    try:
        with served.index.backend.reader() as reader:
            return IndexHealth(served.name, True, f"generation {reader.generation}")
    except (DowseError, OSError) as error:
        return IndexHealth(served.name, False, str(error))


class EventStream(StreamingResponse):
    """A response of server-sent events."""

    media_type = "text/event-stream"


@router.post(
    "/reindex",
    operation_id="reindex",
    response_model=model(ReindexAnswer),
    status_code=202,
    summary="Update indexes",
)
async def reindex(state: State, request: ReindexRequest) -> Any:  # noqa: ANN401 - JSON
    """Queue an update of one index, or of all; searches continue meanwhile."""
    selected = state.indexes.select(request.index)
    task: Task = "rebuild" if request.rebuild else "update"
    started = [each.name for each in selected if state.engine.refresh(each, task)]
    waiting = [each.name for each in selected if each.name not in started]
    return to_json(ReindexAnswer(started, waiting))


@router.get(
    "/events",
    operation_id="events",
    response_class=EventStream,
    responses={
        200: {
            "model": model(ProgressEvent),
            "description": "Server-sent events called `progress`; the data of each is one `ProgressEvent`.",
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
                data = json.dumps(to_json(event), separators=(",", ":"))
                yield f"id: {event.number}\nevent: progress\ndata: {data}\n\n"
