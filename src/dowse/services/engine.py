"""The engine of a server: keeps its indexes up to date, and ready to be searched."""

from __future__ import annotations

import contextlib
import queue
import threading
import time

from dowse.errors import DowseError
from dowse.lazy_classes import dataclass
from dowse.services.events import EventBroker
from dowse.services.indexes import ServedIndex
from dowse.watch import Maintainer, WatchEvent
from dowse.watch.messages import TASKS, Task

# While searches come in, changed files are looked for so often; not at all between searches.
CHECK_SECONDS = 20.0
_JOIN_SECONDS = 5.0


@dataclass(slots=True)
class _Entry:
    """An index of the engine."""

    served: ServedIndex
    broker: EventBroker  # that hears of it
    queued: Task | None = None  # what is requested and not begun
    checked_at: float = 0.0


class Engine:
    """Has the indexes of a server built on first use and updated when files change; thread-safe.

    All of that is done by one worker process, so that searches never wait for it.
    """

    def __init__(self, *, watch: bool = False) -> None:
        """Prepare; nothing runs before an index is added.

        Args:
            watch: Whether files are indexed when they change, not when somebody searches.
        """
        self._watch = watch
        self._maintainer = Maintainer(self._handle)
        self._entries: dict[str, _Entry] = {}  # by root
        self._lock = threading.Lock()
        self._updated: queue.SimpleQueue[ServedIndex | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._warm_up_updated, name="dowse-warm-up", daemon=True)
        self._thread.start()

    def add(self, served: ServedIndex, broker: EventBroker) -> None:
        """Begin with an index: warm up what is there, build what is missing, update the others."""
        index = served.index
        with self._lock:
            self._entries[str(index.root)] = _Entry(served, broker)
        self._updated.put(served)
        if index.is_shared:
            return  # another process writes it
        if self._watch:
            with contextlib.suppress(DowseError):  # a corpus is refreshed as without watching
                self._maintainer.request(index, "watch")
                return
        if index.settings.refresh != "never" or not index.exists:
            self.refresh(served)

    def refresh(self, served: ServedIndex, task: Task = "update") -> bool:
        """Have an index updated or rebuilt; False if as much is queued already."""
        entry = self._entries.get(str(served.index.root))
        with self._lock:
            if entry is None or (entry.queued and TASKS.index(task) <= TASKS.index(entry.queued)):
                return False
            entry.queued = task
        if task != "check":
            entry.broker.publish(served.name, "waiting", detail="in line")
        if task == "rebuild":
            served.index.internals.lanes.close()
        self._maintainer.request(served.index, task)
        return True

    def refresh_if_due(self, served: ServedIndex) -> None:
        """Look for changed files soon, unless that was done a moment ago; every search calls this."""
        entry, now = self._entries.get(str(served.index.root)), time.monotonic()
        if entry is None or served.index.settings.refresh == "never" or served.index.is_shared:
            return
        if self.is_watching(served) or now - entry.checked_at < CHECK_SECONDS:
            return
        entry.checked_at = now
        self.refresh(served, "check")

    def is_watching(self, served: ServedIndex) -> bool:
        """Whether changes of an index are seen now, so that no search has to look for them."""
        return self._maintainer.is_watching(served.index)

    def remove(self, served: ServedIndex) -> None:
        """Do nothing more with an index."""
        with self._lock:
            self._entries.pop(str(served.index.root), None)
        self._maintainer.forget(served.index)

    def close(self) -> None:
        """End the worker, and take no more requests."""
        with self._lock:
            self._entries = {}
        self._maintainer.close()
        self._updated.put(None)
        self._thread.join(_JOIN_SECONDS)

    def _handle(self, event: WatchEvent) -> None:
        """Publish an event of the worker."""
        with self._lock:
            entry = self._entries.get(event.root)
            if entry is None:
                return
            if event.kind in ("begun", "failed", "finished"):
                entry.queued, entry.checked_at = None, time.monotonic()
        name, publish = entry.served.name, entry.broker.publish
        if event.kind in ("index", "embed", "waiting", "failed"):
            publish(name, event.kind, event.done, event.total, event.detail)
        elif event.kind == "indexed":
            self._updated.put(entry.served)
            counts = f"{event.added:,} added, {event.changed:,} changed, {event.deleted:,} deleted"
            publish(name, "done", detail=counts)
        elif event.kind == "embedded" and event.done:
            publish(name, "done", detail=f"{event.done:,} embedded")

    def _warm_up_updated(self) -> None:
        """Read and start what the first search would have to wait for, after each update."""
        while (served := self._updated.get()) is not None:
            with contextlib.suppress(DowseError):  # the search reports it
                served.past_queries.refresh()
                served.names.refresh()
                if served.names.cached() is not None:
                    served.index.internals.warm()
