"""Keeps the indexes of a server up to date: builds them on first use, updates them when files change."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from dowse.errors import DowseError
from dowse.index import REFRESH_FILES
from dowse.security.terminal import escape_name
from dowse.services.events import EventBroker
from dowse.services.indexes import ServedIndex, ServedIndexes
from dowse.services.refresh_process import RefreshJob
from dowse.watch import Watcher, WatchEvent
from dowse.workers.program import worker_program
from dowse.workers.supervisor import Supervisor, WorkerDied

# While searches come in, changed files are looked for so often; not at all between searches.
CHECK_SECONDS = 20.0
_JOIN_SECONDS = 5.0
_log = logging.getLogger("dowse.services")


class _Job(NamedTuple):
    """What is to be done with an index."""

    rebuild: bool
    only_if_changed: bool


class IndexRefresher:
    """One thread that has one index after another updated by a process of its own."""

    def __init__(self, indexes: ServedIndexes, broker: EventBroker, *, watch: bool = False) -> None:
        self._indexes, self._broker = indexes, broker
        self.watchers = IndexWatchers(indexes, broker) if watch else None
        self._queue: queue.SimpleQueue[ServedIndex | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._jobs: dict[str, _Job] = {}  # of the indexes in the queue
        self._checked_at: dict[str, float] = {}
        self._worker = Supervisor(worker_program("dowse.services.refresh_process"), own_group=True)
        self._closed = False
        self._thread = threading.Thread(target=self._drive, name="dowse-refresher", daemon=True)

    def start(self) -> None:
        """Begin: warm up what is there, build what is missing, update the others."""
        self._thread.start()
        if self.watchers is not None:
            self.watchers.start()
        for served in self._indexes:
            if served.index.is_shared or (self.watchers is not None and self.watchers.has(served)):
                continue  # another process writes it
            if served.index.settings.refresh != "never" or not served.index.exists:
                self.refresh(served)

    def refresh(self, served: ServedIndex, *, rebuild: bool = False, only_if_changed: bool = False) -> bool:
        """Queue an index to be updated; False if as much is queued already.

        A queued check for changes becomes an update, and an update a rebuild, if that is requested later.
        """
        with self._lock:
            queued = self._jobs.get(served.name, _Job(rebuild=False, only_if_changed=True))
            job = _Job(rebuild or queued.rebuild, only_if_changed and queued.only_if_changed)
            if self._closed or self._jobs.get(served.name) == job:
                return False
            if not job.only_if_changed:
                self._broker.publish(served.name, "waiting", detail="in line")
            if served.name not in self._jobs:
                self._queue.put(served)
            self._jobs[served.name] = job
        return True

    def refresh_if_due(self, served: ServedIndex) -> None:
        """Look for changed files soon, unless that was done a moment ago; every search calls this."""
        now = time.monotonic()
        if served.index.settings.refresh == "never" or served.index.is_shared:
            return
        if self.watchers is not None and self.watchers.is_watching(served):
            return
        with self._lock:
            if now - self._checked_at.get(served.name, 0.0) < CHECK_SECONDS:
                return
            self._checked_at[served.name] = now
        self.refresh(served, only_if_changed=True)

    def close(self) -> None:
        """Kill the process that is at work, and take no more jobs."""
        with self._lock:
            self._closed = True
        self._queue.put(None)
        if self.watchers is not None:
            self.watchers.close()
        self._worker.stop()
        if self._thread.is_alive():
            self._thread.join(_JOIN_SECONDS)

    def _drive(self) -> None:
        for each in self._indexes:
            _warm_up(each)
        while (served := self._queue.get()) is not None and not self._closed:
            with self._lock:
                job = self._jobs.pop(served.name)  # a request from here on is about changes from here on
            try:
                if not job.only_if_changed or _has_changed(served):
                    self._run_process(served, job.rebuild)
            except Exception as error:  # whatever it is, the next job is worked on
                _log.exception("updating %s failed", escape_name(served.name))
                self._broker.publish(served.name, "failed", detail=f"{error}; look at the server's log")
            with self._lock:
                self._checked_at[served.name] = time.monotonic()

    def _run_process(self, served: ServedIndex, rebuild: bool) -> None:
        """Have one index updated by a process, and publish its events."""
        index = served.index
        if rebuild:
            index.lanes.close()
        kind = ""
        try:
            self._worker.start(RefreshJob(index.root, index.backend.address, index.settings, rebuild))
            for event in self._worker.messages():
                kind = event.pop("kind")
                # Words can be searched before anything is embedded.
                if kind == "done" or (kind == "embed" and not event["done"]):
                    _warm_up(served)
                self._broker.publish(served.name, kind, **event)
        except WorkerDied as error:
            if not self._closed:  # else it was ended with the server
                _log.warning("updating %s: the process %s", escape_name(served.name), error)
        finally:
            self._worker.discard()
        if kind not in ("done", "failed") and not self._closed:
            self._broker.publish(served.name, "failed", detail="indexing was interrupted; start it again")


class IndexWatchers:
    """A watcher for every index that can have one."""

    def __init__(self, indexes: ServedIndexes, broker: EventBroker) -> None:
        self._broker = broker
        self._updated: queue.SimpleQueue[ServedIndex | None] = queue.SimpleQueue()
        self._watchers: dict[str, Watcher] = {}
        for served in indexes:
            try:
                self._watchers[served.name] = Watcher(served.index, partial(self._handle, served))
            except DowseError:  # a corpus or a shared index: those are refreshed as without watchers
                continue
        self._thread = threading.Thread(target=self._warm_up_updated, name="dowse-watching", daemon=True)

    def __iter__(self) -> Iterator[Watcher]:
        return iter(self._watchers.values())

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()
        for watcher in self:
            watcher.start()

    def has(self, served: ServedIndex) -> bool:
        """Whether an index has a watcher, which builds it too."""
        return served.name in self._watchers

    def is_watching(self, served: ServedIndex) -> bool:
        """Whether changes of an index are seen now, so that no search has to look for them."""
        watcher = self._watchers.get(served.name)
        return watcher is not None and watcher.is_watching

    def close(self) -> None:
        """Stop watching."""
        for watcher in self:
            watcher.stop()
        self._updated.put(None)
        if self._thread.is_alive():
            self._thread.join(_JOIN_SECONDS)

    def _handle(self, served: ServedIndex, event: WatchEvent) -> None:
        if event.kind in ("index", "embed", "waiting", "failed"):
            self._broker.publish(served.name, event.kind, event.done, event.total, event.detail)
        elif event.kind == "indexed":
            counts = f"{event.added:,} added, {event.changed:,} changed, {event.deleted:,} deleted"
            self._broker.publish(served.name, "done", detail=counts)
            self._updated.put(served)
        elif event.kind == "embedded":
            self._broker.publish(served.name, "done", detail=f"{event.done:,} embedded")

    def _warm_up_updated(self) -> None:
        """Warm up each index after an update, in a thread of its own: the watcher's must be quick."""
        while (served := self._updated.get()) is not None:
            _warm_up(served)


def _warm_up(served: ServedIndex) -> None:
    """Read and start what the first search would have to wait for."""
    served.past_queries.refresh()
    served.names.refresh()
    if served.names.cached() is not None:
        served.index.warm()


def _has_changed(served: ServedIndex) -> bool:
    """Whether files differ from the index, as far as that is quick to find out."""
    try:
        index = served.index.as_built()
        if index.settings.refresh == "auto" and index.file_count() > REFRESH_FILES:
            return False
        return bool(index.changes().count)
    except DowseError:
        return True
