"""Progress events of the indexes, published to all subscribers."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Literal

from dowse.lazy_classes import dataclass, replace
from dowse.services.errors import Busy

# Backpressure: events that may wait for a slow subscriber; of more, the oldest are dropped.
_BACKLOG = 100
# A heartbeat is sent after so long without an event, so that no proxy in between closes the connection.
_HEARTBEAT_SECONDS = 15.0


Phase = Literal["waiting", "index", "embed", "done", "failed", "idle"]


@dataclass(frozen=True, slots=True)
class ProgressEvent:
    """The progress of indexing or embedding."""

    number: int  # counts up with every event of a broker
    index: str
    phase: Phase
    done: int = 0
    total: int = 0
    detail: str = ""
    at: float = 0.0  # seconds since 1970
    seconds_left: float | None = None


_Queue = asyncio.Queue[ProgressEvent | None]


class EventBroker:
    """Publishes events to subscribers, and keeps the latest of every index; thread-safe."""

    def __init__(self, max_subscribers: int) -> None:
        """Limit the subscribers."""
        self._max_subscribers = max_subscribers
        self._lock = threading.RLock()  # `close` is called from a signal handler, which may find it held
        self._number = 0
        self._latest: dict[str, ProgressEvent] = {}
        self._phase_starts: dict[str, ProgressEvent] = {}  # the first event of the phase that an index is in
        self._subscribers: dict[_Queue, asyncio.AbstractEventLoop] = {}
        self._closed = False

    def publish(self, index: str, phase: Phase, done: int = 0, total: int = 0, detail: str = "") -> None:
        """Send an event to all subscribers."""
        with self._lock:
            self._number += 1
            event = ProgressEvent(self._number, index, phase, done, total, detail, time.time())
            event = replace(event, seconds_left=self._seconds_left(event))
            self._latest[index] = event
            self._send(event)

    def _seconds_left(self, event: ProgressEvent) -> float | None:
        before = self._latest.get(event.index)
        if before is None or before.phase != event.phase or before.done > event.done:
            self._phase_starts[event.index] = event
        start = self._phase_starts[event.index]
        done, seconds = event.done - start.done, event.at - start.at
        return max(0, event.total - event.done) * seconds / done if done and seconds > 0 else None

    def latest(self, index: str) -> ProgressEvent:
        """Return the latest event of an index."""
        with self._lock:
            return self._latest.get(index) or ProgressEvent(0, index, "idle")

    @property
    def subscribers(self) -> int:
        """How many there are now."""
        return len(self._subscribers)

    @contextlib.contextmanager
    def subscribe(self) -> Iterator[AsyncIterator[ProgressEvent | None]]:
        """Give the latest event of every index, then all that follow; None as a heartbeat in between."""
        queue: _Queue = asyncio.Queue()
        with self._lock:
            if len(self._subscribers) >= self._max_subscribers:
                raise Busy("too many listen to events already; close a page, or try again in a moment")
            for event in sorted(self._latest.values(), key=lambda event: event.number):
                queue.put_nowait(event)
            self._subscribers[queue] = asyncio.get_running_loop()
        try:
            yield self._events(queue)
        finally:
            with self._lock:
                self._subscribers.pop(queue, None)

    def close(self) -> None:
        """End all subscriptions: the server stops."""
        self._closed = True
        with self._lock:
            self._send(None)

    async def _events(self, queue: _Queue) -> AsyncIterator[ProgressEvent | None]:
        while not self._closed:
            try:
                yield await asyncio.wait_for(queue.get(), _HEARTBEAT_SECONDS)
            except TimeoutError:
                yield None

    def _send(self, event: ProgressEvent | None) -> None:
        for queue, loop in self._subscribers.items():
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(_put, queue, event)


def _put(queue: _Queue, event: ProgressEvent | None) -> None:
    while queue.qsize() >= _BACKLOG:
        queue.get_nowait()
    queue.put_nowait(event)
