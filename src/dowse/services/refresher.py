"""Keeps the indexes of a server up to date: builds them on first use, updates them when files change."""

from __future__ import annotations

import logging
import queue
import threading
import time

from dowse.errors import DowseError
from dowse.index import REFRESH_FILES
from dowse.security.terminal import escape_name
from dowse.services.events import EventBroker
from dowse.services.indexes import ServedIndex, ServedIndexes
from dowse.services.refresh_process import RefreshJob
from dowse.services.watching import IndexWatchers
from dowse.workers.supervisor import Supervisor, WorkerDied, worker_program

# While searches come in, changed files are looked for so often; not at all between searches.
CHECK_SECONDS = 20.0
_JOIN_SECONDS = 5.0
_log = logging.getLogger("dowse.interfaces.http")


class IndexRefresher:
    """One thread that has one index after another updated by a process of its own."""

    def __init__(self, places: ServedIndexes, broker: EventBroker, *, watch: bool = False) -> None:
        self._places, self._broker = places, broker
        self.watchers = IndexWatchers(places, broker, _warm_up) if watch else None
        self._jobs: queue.SimpleQueue[tuple[ServedIndex, bool, bool] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._queued: set[str] = set()
        self._checked_at: dict[str, float] = {}
        self._worker = Supervisor(worker_program("dowse.services.refresh_process"), own_group=True)
        self._closed = False
        self._thread = threading.Thread(target=self._drive, name="dowse-refresher", daemon=True)

    def start(self) -> None:
        """Begin: warm up what is there, build what is missing, update the rest."""
        self._thread.start()
        if self.watchers is not None:
            self.watchers.start()
        for place in self._places:
            if place.index.is_shared or (self.watchers is not None and self.watchers.has(place)):
                continue  # another process writes it
            if place.index.settings.refresh != "never" or not place.index.exists:
                self.refresh(place)

    def refresh(self, place: ServedIndex, *, rebuild: bool = False, only_if_changed: bool = False) -> bool:
        """Queue an index to be updated; False if it is queued already."""
        with self._lock:
            if place.name in self._queued or self._closed:
                return False
            self._queued.add(place.name)
        if not only_if_changed:
            self._broker.publish(place.name, "waiting", detail="in line")
        self._jobs.put((place, rebuild, only_if_changed))
        return True

    def refresh_if_due(self, place: ServedIndex) -> None:
        """Look for changed files soon, unless that was done a moment ago; every search calls this."""
        now = time.monotonic()
        if place.index.settings.refresh == "never" or place.index.is_shared:
            return
        if self.watchers is not None and self.watchers.is_watching(place):
            return
        with self._lock:
            if now - self._checked_at.get(place.name, 0.0) < CHECK_SECONDS:
                return
            self._checked_at[place.name] = now
        self.refresh(place, only_if_changed=True)

    def close(self) -> None:
        """Kill the process that is at work, and take no more jobs."""
        with self._lock:
            self._closed = True
        self._jobs.put(None)
        if self.watchers is not None:
            self.watchers.close()
        self._worker.stop()
        if self._thread.is_alive():
            self._thread.join(_JOIN_SECONDS)

    def _drive(self) -> None:
        for place in self._places:
            _warm_up(place)
        while (job := self._jobs.get()) is not None and not self._closed:
            place, rebuild, only_if_changed = job
            with self._lock:
                self._queued.discard(place.name)  # a request from here on is about changes from here on
            try:
                if not only_if_changed or _has_changed(place):
                    self._run_process(place, rebuild)
            except Exception as error:  # whatever it is, the next job is worked on
                _log.exception("updating %s failed", escape_name(place.name))
                self._broker.publish(place.name, "failed", detail=f"{error}; look at the server's log")
            with self._lock:
                self._checked_at[place.name] = time.monotonic()

    def _run_process(self, place: ServedIndex, rebuild: bool) -> None:
        """Have one index updated by a process, and publish its events."""
        index = place.index
        if rebuild:
            index.lanes.close()
        kind = ""
        try:
            self._worker.start(RefreshJob(index.root, index.backend.address, index.settings, rebuild))
            for event in self._worker.messages():
                kind = event.pop("kind")
                # Words can be searched before anything is embedded.
                if kind == "done" or (kind == "embed" and not event["done"]):
                    _warm_up(place)
                self._broker.publish(place.name, kind, **event)
        except WorkerDied as error:
            _log.warning("updating %s: the process %s", escape_name(place.name), error)
        finally:
            self._worker.discard()
        if kind not in ("done", "failed") and not self._closed:
            self._broker.publish(place.name, "failed", detail="indexing was interrupted; start it again")


def _warm_up(place: ServedIndex) -> None:
    """Read and start what the first search would have to wait for."""
    place.past_queries.refresh()
    place.names.refresh()
    if place.names.cached() is not None:
        place.index.warm()


def _has_changed(place: ServedIndex) -> bool:
    """Whether files differ from the index, as far as that is quick to find out."""
    try:
        index = place.index.as_built()
        if index.settings.refresh == "auto" and index.file_count() > REFRESH_FILES:
            return False
        return bool(index.changes().count)
    except DowseError:
        return True
