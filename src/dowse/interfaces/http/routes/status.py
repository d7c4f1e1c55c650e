"""`GET /api/status`, `GET /api/skipped`: what is indexed, and what is not."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query

from dowse.errors import DowseError
from dowse.interfaces.http.models.status import SkippedFiles, Status
from dowse.interfaces.http.routes.parameters import IndexName
from dowse.interfaces.http.state import State
from dowse.query.languages import KINDS
from dowse.security.terminal import escape_surrogates
from dowse.services.events import Hub
from dowse.services.indexes import Place
from dowse.version import __version__

router = APIRouter()
_COPIED = (
    *("generation", "indexed_at", "files", "symbols", "source_bytes", "index_bytes", "encoder", "embedded"),
    *("skipped", "problems", "corpus", "changes", "repo", "commit"),
)
_EMPTY: dict[str, Any] = {
    **dict.fromkeys(("repo", "commit", "encoder"), ""),
    **dict.fromkeys(("generation", "indexed_at", "files", "symbols", "source_bytes", "index_bytes"), 0),
    **dict.fromkeys(("embedded", "skipped", "problems"), 0),
    "corpus": False,
    "changes": {"new": 0, "changed": 0, "deleted": 0},
}


@router.get("/status", operation_id="status", response_model=Status, summary="What is indexed")
async def status(state: State, index: IndexName = None) -> dict[str, Any]:
    """Say of every index what is in it, how much of it can be found by meaning, and how fresh it is."""
    places = state.places.chosen(index)
    found = await asyncio.gather(
        *[state.workers.run(partial(index_status, place, state.hub)) for place in places]
    )
    return {
        "dowse": __version__,
        "feedback": state.options.feedback,
        "encoder": next((each["encoder"] for each in found if each["encoder"]), ""),
        "indexes": found,
    }


def index_status(place: Place, hub: Hub) -> dict[str, Any]:
    """Return what is indexed of one place, and how far that is, as plain data."""
    common = {
        "name": place.name,
        "root": escape_surrogates(str(place.index.root)),
        "progress": hub.latest(place.name),
        "kinds": list(KINDS),
    }
    try:
        facts = place.index.status() if place.index.exists else None
    except DowseError as error:
        return {**common, **_EMPTY, "exists": False, "problem": str(error), "languages": []}
    if facts is None:
        return {**common, **_EMPTY, "exists": False, "problem": "", "languages": []}
    languages = sorted(facts["languages"].items(), key=lambda each: (-each[1], each[0]))
    return {
        **common,
        **{name: facts[name] for name in _COPIED},
        "exists": True,
        "problem": "",
        "languages": [{"language": name or "text", "files": count} for name, count in languages],
    }


@router.get("/skipped", operation_id="skipped", response_model=SkippedFiles, summary="What is left out")
async def skipped(
    state: State,
    index: IndexName = None,
    reason: Annotated[str, Query(max_length=200, description="Only files with this reason.")] = "",
    k: Annotated[int, Query(ge=1, le=500, description="How many files.")] = 100,
    offset: Annotated[int, Query(ge=0, description="Files to leave out.")] = 0,
) -> dict[str, Any]:
    """List the files that are left out or were read only in part, and why; a page at a time."""
    found = await state.workers.run(lambda: _left_out(state.places.chosen(index)))
    counts = Counter(each["reason"] for each in found)
    chosen = [each for each in found if not reason or each["reason"] == reason]
    return {
        "total": len(chosen),
        "offset": offset,
        "more": len(chosen) > offset + k,
        "reasons": [{"reason": name, "files": count} for name, count in counts.most_common(50)],
        "files": chosen[offset : offset + k],
    }


def _left_out(places: list[Place]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for place in places:
        if not place.index.exists:
            continue
        partly = [(file.path, file.problem) for file in place.index.troubled_files()]
        for indexed, files in ((False, place.index.skipped()), (True, partly)):
            found += [
                {"index": place.name, "path": path, "reason": why, "indexed": indexed} for path, why in files
            ]
    return found
