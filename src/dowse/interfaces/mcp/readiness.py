"""Before a call is answered: the index is there, and knows what was saved a moment ago."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from dowse.errors import DowseError, IndexLocked
from dowse.index import QUICK_SYMBOLS, REFRESH_CHANGES, REFRESH_FILES, Index
from dowse.interfaces.mcp.frame import framed
from dowse.interfaces.mcp.options import EMBED_SECONDS, LARGE_TREE_SECONDS, WRITER_SECONDS
from dowse.interfaces.mcp.repositories import Repository
from dowse.security.terminal import escape_name
from dowse.services.events import ProgressEvent
from dowse.types import Note

# Reports progress: how much of 100 is done, and in words what is being done.
Report = Callable[[float, str], Awaitable[None]]
_UNITS = {"index": ("indexing", "files"), "embed": ("embedding", "symbols")}


class NotReady(DowseError):
    """An index that is still being made."""


class NotIndexed(DowseError):
    """An index that can't be made; why is told in a frame, for it may quote the repository."""

    is_list = True

    def __init__(self, name: str, why: str) -> None:
        self.said = f"{escape_name(name)} can't be indexed"
        super().__init__("\n".join([f"{self.said}:", *framed([escape_name(why)])]))


class Cancelled(DowseError):
    """A call that nobody waits for any more."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call on its way: when it came, and whether somebody still waits for it."""

    started: float = field(default_factory=time.monotonic)
    stop: threading.Event = field(default_factory=threading.Event)

    def check(self, *_: object) -> None:
        """Raise if nobody waits any more: what is being done ends here."""
        if self.stop.is_set():
            raise Cancelled("the call was cancelled")


async def wait_for_words(repository: Repository, seconds: float, report: Report) -> None:
    """Have a repository indexed, if it never was, and wait until its words can be searched.

    Raises `NotReady` if that takes longer than the seconds given; it then goes on in the background.
    """
    heard = repository.broker.latest(repository.name).number
    with repository.broker.subscribe() as events:
        if not await asyncio.to_thread(repository.begin):
            heard = -1  # what was last heard is about what goes on now
        if not repository.is_first:
            return
        deadline = time.monotonic() + seconds
        # Not `asyncio.timeout`: before 3.12 a listener that hears something just then swallows it.
        while (left := deadline - time.monotonic()) > 0:
            try:
                event = await asyncio.wait_for(anext(events), left)
            except (TimeoutError, StopAsyncIteration):
                break
            if event is None or event.number <= heard:
                continue
            if event.phase == "failed":
                raise NotIndexed(repository.name, event.detail)
            await report(_share(event), in_words(repository.name, event))
            if event.phase in ("embed", "done"):
                repository.is_first = False
                return
    if not await asyncio.to_thread(lambda: repository.index.exists):
        raise NotReady(_not_ready(repository, seconds))


def _share(event: ProgressEvent) -> float:
    return 100.0 if event.phase in ("embed", "done") else 100.0 * event.done / max(1, event.total)


def in_words(name: str, event: ProgressEvent) -> str:
    """Say how far an index is."""
    if event.phase not in _UNITS:
        # Why something failed may quote the repository.
        return f"{name}: {event.detail if event.detail and event.phase != 'failed' else event.phase}"
    doing, units = _UNITS[event.phase]
    return f"{doing} {name}: {event.done:,} of {event.total:,} {units}"


def _not_ready(repository: Repository, seconds: float) -> str:
    event = repository.broker.latest(repository.name)
    return (
        f"{in_words(repository.name, event)}; nothing can be searched yet after {seconds:.0f} s. It goes on "
        "in the background: call again in half a minute, and meanwhile use other tools (grep)"
    )


def take_in_changes(repository: Repository, call: Call, by_meaning: bool) -> list[Note]:
    """Take in what was saved since the last call, while that is quick; return what is to be said of it."""
    index = repository.index
    if index.is_shared or index.settings.refresh == "never":
        return []
    if repository.watcher is not None and repository.watcher.is_watching:
        settled = repository.watcher.settle(EMBED_SECONDS, by_meaning)
        text = f"{repository.name}: files saved just now are still being indexed"
        return [] if settled else [Note("refreshing", text)]
    with repository.fresh:
        call.check()
        if repository.looked >= call.started:
            return []  # somebody has looked since this call came
        began = time.monotonic()
        notes = _taken_in(repository, call)
        if by_meaning and not notes:
            _embed(index, call)
        repository.looked = began
        return notes


def _taken_in(repository: Repository, call: Call) -> list[Note]:
    index = repository.index.as_built()
    if index.settings.refresh == "auto" and index.file_count() > REFRESH_FILES:
        if time.monotonic() - repository.looked_in_background > LARGE_TREE_SECONDS:
            repository.refresh()
        return []
    count = index.changes().count
    if count > REFRESH_CHANGES:
        count = index.changes(exact=True).count
    if count > REFRESH_CHANGES:
        repository.refresh()
        text = f"{repository.name}: {count:,} files changed and are being indexed; this is from before"
        return [Note("refreshing", text)]
    if not count:
        return []
    try:
        index.update(wait=WRITER_SECONDS, on_progress=call.check)
    except (IndexLocked, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        text = f"{repository.name}: {count:,} changed files are not in this answer yet ({why})"
        return [Note("refreshing", text)]
    return []


def _embed(index: Index, call: Call) -> None:
    """Embed the few symbols that are new; more are left to the background."""
    if index.settings.encoder == "none" or not 0 < index.unembedded() <= QUICK_SYMBOLS:
        return
    try:
        index.embed(seconds=EMBED_SECONDS, wait=0.0, on_progress=call.check)
    except (IndexLocked, OSError):
        return  # another process is at it
