"""Before a call is answered: wait until there is an index, and index files that were just saved."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from dowse.errors import DowseError, IndexUnavailable
from dowse.index import QUICK_SYMBOLS, REFRESH_CHANGES, REFRESH_FILES, Index
from dowse.interfaces.mcp.frame import frame
from dowse.interfaces.mcp.options import EMBED_SECONDS, LARGE_TREE_SECONDS, WRITER_SECONDS
from dowse.interfaces.mcp.repositories import Repository
from dowse.security.terminal import escape_name
from dowse.services.calls import Call
from dowse.services.events import ProgressEvent
from dowse.types import Note

# Reports progress: the percentage, and a message.
Report = Callable[[float, str], Awaitable[None]]
_UNITS = {"index": ("indexing", "files"), "embed": ("embedding", "symbols")}


class NotReady(DowseError):
    """The index is still being built."""


class NotIndexed(DowseError):
    """The index can't be built; the reason is in a frame, because it may quote the repository."""

    is_list = True

    def __init__(self, name: str, reason: str) -> None:
        self.summary = f"{escape_name(name)} can't be indexed"  # without the reason
        super().__init__("\n".join([f"{self.summary}:", *frame([escape_name(reason)])]))


async def wait_until_searchable(repository: Repository, seconds: float, report: Report) -> None:
    """Start to index a repository, if it never was indexed, and wait until it can be searched by keywords.

    Raises `NotReady` after a number of seconds; indexing continues in the background.
    """
    last = repository.broker.latest(repository.name).number
    with repository.broker.subscribe() as events:
        if not await asyncio.to_thread(repository.start):
            last = -1  # the latest event is about what runs now
        if not repository.is_first_build:
            return
        deadline = time.monotonic() + seconds
        # Not `asyncio.timeout`: before 3.12 it is lost if an event arrives at the same moment.
        while (remaining := deadline - time.monotonic()) > 0:
            try:
                event = await asyncio.wait_for(anext(events), remaining)
            except (TimeoutError, StopAsyncIteration):
                break
            if event is None or event.number <= last:
                continue
            if event.phase == "failed":
                raise NotIndexed(repository.name, event.detail)
            is_searchable = event.phase in ("embed", "done")
            percent = 100.0 if is_searchable else 100.0 * event.done / max(1, event.total)
            await report(percent, progress_text(repository.name, event))
            if is_searchable:
                repository.is_first_build = False
                return
    if not await asyncio.to_thread(lambda: repository.index.exists):
        progress = progress_text(repository.name, repository.broker.latest(repository.name))
        raise NotReady(
            f"{progress}; nothing can be searched yet after {seconds:.0f} s. It goes on in the background: "
            "call again in half a minute, and meanwhile use other tools (grep)"
        )


def progress_text(name: str, event: ProgressEvent) -> str:
    """Return the progress of an index in words."""
    if event.phase not in _UNITS:
        # The reason of a failure may quote the repository.
        return f"{name}: {event.detail if event.detail and event.phase != 'failed' else event.phase}"
    verb, units = _UNITS[event.phase]
    return f"{verb} {name}: {event.done:,} of {event.total:,} {units}"


def index_changes(repository: Repository, call: Call, by_meaning: bool) -> list[Note]:
    """Index the files that were saved since the last call, if that is quick; return notes about the rest."""
    index = repository.index
    if index.is_shared or index.settings.refresh == "never":
        return []
    with repository.check_lock:
        call.check()
        if repository.checked_at >= call.started:
            return []  # another call has checked since this one arrived
        started = time.monotonic()
        notes = _index_changes(repository, call)
        if by_meaning and not notes:
            _embed(index, call)
        repository.checked_at = started
        return notes


def _index_changes(repository: Repository, call: Call) -> list[Note]:
    index = repository.index.internals.as_built()
    if index.settings.refresh == "auto" and index.contents.file_count() > REFRESH_FILES:
        if time.monotonic() - repository.refreshed_at > LARGE_TREE_SECONDS:
            repository.refresh()
        return []
    count = index.contents.changes().count
    if count > REFRESH_CHANGES:
        count = index.contents.changes(exact=True).count
    if count > REFRESH_CHANGES:
        repository.refresh()
        text = f"{repository.name}: {count:,} files changed and are being indexed; this answer is from before"
        return [Note("refreshing", text)]
    if not count:
        return []
    try:
        index.update(embed=False, wait=WRITER_SECONDS, on_progress=call.check)
    except (IndexUnavailable, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        text = f"{repository.name}: {count:,} changed files are not in this answer yet ({reason})"
        return [Note("refreshing", text)]
    return []


def _embed(index: Index, call: Call) -> None:
    """Embed a few new symbols; more are embedded in the background."""
    if index.settings.encoder == "none" or not 0 < index.vectors.missing() <= QUICK_SYMBOLS:
        return
    try:
        index.vectors.embed(seconds=EMBED_SECONDS, wait=0.0, on_progress=call.check)
    except (IndexUnavailable, OSError):
        return  # another process embeds them
