"""`GET /api/status`, `GET /api/skipped`: what is indexed, and what is not."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query

from dowse.interfaces.http.routes.parameters import IndexName
from dowse.interfaces.http.state import State
from dowse.services.index_status import index_status, server_status
from dowse.services.indexes import ServedIndex
from dowse.services.models.status import SkippedFiles, Status

router = APIRouter()


@router.get("/status", operation_id="status", response_model=Status, summary="Status of the indexes")
async def status(state: State, index: IndexName = None) -> dict[str, Any]:
    """Return the status of every index: its size, how much of it is embedded, and what changed since."""
    jobs = [partial(index_status, served, state.hub) for served in state.indexes.select(index)]
    indexes = await asyncio.gather(*map(state.threads.run, jobs))
    return server_status(indexes, feedback=state.options.feedback)


@router.get("/skipped", operation_id="skipped", response_model=SkippedFiles, summary="Skipped files")
async def skipped(
    state: State,
    index: IndexName = None,
    reason: Annotated[str, Query(max_length=200, description="Only files with this reason.")] = "",
    k: Annotated[int, Query(ge=1, le=500, description="Number of files.")] = 100,
    offset: Annotated[int, Query(ge=0, description="Files to skip.")] = 0,
) -> dict[str, Any]:
    """List the files that are not indexed, or only partly, with the reason; a page at a time."""
    files = await state.threads.run(lambda: _skipped(state.indexes.select(index)))
    counts = Counter(each["reason"] for each in files)
    matching = [each for each in files if not reason or each["reason"] == reason]
    return {
        "total": len(matching),
        "offset": offset,
        "more": len(matching) > offset + k,
        "reasons": [{"reason": name, "files": count} for name, count in counts.most_common(50)],
        "files": matching[offset : offset + k],
    }


def _skipped(indexes: list[ServedIndex]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for served in indexes:
        if not served.index.exists:
            continue
        partly = [(file.path, file.problem) for file in served.index.troubled_files()]
        for indexed, files in ((False, served.index.skipped()), (True, partly)):
            rows += [
                {"index": served.name, "path": path, "reason": reason, "indexed": indexed}
                for path, reason in files
            ]
    return rows
