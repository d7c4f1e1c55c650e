"""`GET /api/v1/log`: the commits of the repositories, as `dowse log` finds them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from dowse.commit_search.search import CommitHit
from dowse.errors import DowseError, HistoryUnread, NoHistory
from dowse.interfaces.http.state import IndexName, State, in_slow_thread
from dowse.services.commits import FoundCommit, LogPage, log_page
from dowse.services.indexes import ServedIndex
from dowse.services.schemas import model
from dowse.source.git_process import GitMissing
from dowse.types import Note, NoteCode

router = APIRouter(tags=["history"])
# New commits are encoded for so long before an answer; the others wait for the next request.
_EMBED_SECONDS = 5.0
# A first reading may take minutes: other requests must not hold their threads meanwhile.
_LOCK_SECONDS = 1.0
# Commits that are read without being asked for: well under a second, even if they are large.
_MAX_UNREAD = 50


@router.get("/log", operation_id="log", response_model=model(LogPage), summary="Commits")
@in_slow_thread
def log(
    state: State,
    q: Annotated[
        str,
        Query(max_length=2_000, description="Words, and `author:`, `since:`, `path:`, `symbol:`."),
    ] = "",
    symbol: Annotated[
        str | None, Query(min_length=1, max_length=1_000, description="A definition that they changed.")
    ] = None,
    index: IndexName = None,
    k: Annotated[int, Query(ge=1, le=100, description="How many commits.")] = 10,
    read: Annotated[
        bool, Query(description=f"Read new commits first; if false, only up to {_MAX_UNREAD} of them.")
    ] = True,
) -> LogPage:
    """Return the commits that a question is about, or that changed a symbol, newest first."""
    if symbol:
        # A name has no quotes; one would end the filter.
        name = symbol.replace('"', "")
        q = f'{q} symbol:"{name}"'.strip()
    if not q.strip():
        raise DowseError("there is nothing to look for; send `q` or `symbol`")
    commits: list[FoundCommit] = []
    notes: list[Note] = []
    for served in state.indexes.select(index):
        try:
            hits = _log(served, q, k, None if read else _MAX_UNREAD)
        except (NoHistory, GitMissing) as error:
            notes.append(_note("index-failed", served, error))
        except HistoryUnread as error:
            notes.append(_note("refreshing", served, error))
        else:
            commits += [FoundCommit(served.name, hit) for hit in hits]
    return log_page(q, commits, notes, k)


def _log(served: ServedIndex, query: str, k: int, max_unread: int | None) -> list[CommitHit]:
    if served.index.is_shared:
        raise NoHistory("a cluster has no commits; serve the repository's folder")
    return served.index.log(query, k, seconds=_EMBED_SECONDS, wait=_LOCK_SECONDS, max_unread=max_unread)


def _note(code: NoteCode, served: ServedIndex, error: DowseError) -> Note:
    text, _, remedy = str(error).partition("; ")
    return Note(code, f"{served.name}: {text}", remedy)
