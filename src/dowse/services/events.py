"""What happens to the indexes, told to everybody who listens."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Iterator

from dowse.services.errors import Busy
from dowse.services.models.status import Progress

# Events that may wait for a slow listener; of more, the oldest are dropped: only the latest count.
_BACKLOG = 100
# A sign of life goes out after so long, so that nobody in between cuts the line.
_QUIET_SECONDS = 15.0


class Hub:
    """The latest event of every index, and those who want to hear the next."""

    def __init__(self, most_listeners: int) -> None:
        self._most = most_listeners
        self._lock = threading.RLock()  # `close` is called from a signal's handler, which may find it held
        self._number = 0
        self._latest: dict[str, Progress] = {}
        self._listeners: dict[asyncio.Queue[Progress | None], asyncio.AbstractEventLoop] = {}
        self._closed = False

    def tell(self, index: str, phase: str, done: int = 0, total: int = 0, detail: str = "") -> None:
        """Tell everybody; any thread may."""
        with self._lock:
            self._number += 1
            event = Progress.model_validate(
                {
                    "number": self._number,
                    "index": index,
                    "phase": phase,
                    "done": done,
                    "total": total,
                    "detail": detail,
                    "at": time.time(),
                }
            )
            self._latest[index] = event
            listeners = dict(self._listeners)
        for queue, loop in listeners.items():
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(_put, queue, event)

    def latest(self, index: str) -> Progress:
        """Return what was last heard of an index."""
        with self._lock:
            known = self._latest.get(index)
        return known or Progress(number=0, index=index, phase="idle", done=0, total=0, detail="", at=0.0)

    @property
    def listeners(self) -> int:
        """How many listen now."""
        return len(self._listeners)

    @contextlib.contextmanager
    def listening(self) -> Iterator[AsyncIterator[Progress | None]]:
        """Give the latest of every index, then what happens; None now and then, when nothing does."""
        queue: asyncio.Queue[Progress | None] = asyncio.Queue()
        with self._lock:
            if len(self._listeners) >= self._most:
                raise Busy("too many listen to events already; close a page, or try again in a moment")
            for event in sorted(self._latest.values(), key=lambda event: event.number):
                queue.put_nowait(event)
            self._listeners[queue] = asyncio.get_running_loop()
        try:
            yield self._heard(queue)
        finally:
            with self._lock:
                self._listeners.pop(queue, None)

    async def _heard(self, queue: asyncio.Queue[Progress | None]) -> AsyncIterator[Progress | None]:
        while not self._closed:
            try:
                yield await asyncio.wait_for(queue.get(), _QUIET_SECONDS)
            except TimeoutError:
                yield None

    def close(self) -> None:
        """Send everybody away: the server ends."""
        self._closed = True
        with self._lock:
            listeners = dict(self._listeners)
        for queue, loop in listeners.items():
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_put, queue, None)


def _put(queue: asyncio.Queue[Progress | None], event: Progress | None) -> None:
    while queue.qsize() >= _BACKLOG:
        queue.get_nowait()
    queue.put_nowait(event)
