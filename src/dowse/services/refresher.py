"""Keeps the indexes of a server true: builds them on first use, and again when files have changed."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict

from dowse.errors import DowseError
from dowse.index import REFRESH_FILES
from dowse.security.terminal import escape_name
from dowse.services.events import Hub
from dowse.services.indexes import ServedIndex, ServedIndexes
from dowse.services.watching import Watching

# While somebody searches, changed files are looked for so often; not at all between searches.
LOOK_SECONDS = 20.0
_JOIN_SECONDS = 5.0
# The server's own search path, so that the process finds the very same package.
_PROGRAM = """import sys; sys.path[:] = {path!r}
from dowse.services.refresh_process import main; sys.exit(main())"""
_log = logging.getLogger("dowse.interfaces.http")


class Keeper:
    """One thread that has one index after another brought up to date by a process of its own."""

    def __init__(self, places: ServedIndexes, hub: Hub, *, watch: bool = False) -> None:
        self._places, self._hub = places, hub
        self.watching = Watching(places, hub, _get_ready) if watch else None
        self._jobs: queue.SimpleQueue[tuple[ServedIndex, bool, bool] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._waiting: set[str] = set()  # in line
        self._looked: dict[str, float] = {}
        self._process: subprocess.Popen[str] | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._drive, name="dowse-keeper", daemon=True)

    def start(self) -> None:
        """Begin: get ready what is there, build what is missing, bring the rest up to date."""
        self._thread.start()
        if self.watching is not None:
            self.watching.start()
        for place in self._places:
            if place.index.is_shared or (self.watching is not None and self.watching.has(place)):
                continue  # whoever writes it does so elsewhere
            if place.index.settings.refresh != "never" or not place.index.exists:
                self.refresh(place)

    def refresh(self, place: ServedIndex, *, rebuild: bool = False, only_if_changed: bool = False) -> bool:
        """Put an index in line; False if it is in it already."""
        with self._lock:
            if place.name in self._waiting or self._closed:
                return False
            self._waiting.add(place.name)
        if not only_if_changed:
            self._hub.tell(place.name, "waiting", detail="in line")
        self._jobs.put((place, rebuild, only_if_changed))
        return True

    def look(self, place: ServedIndex) -> None:
        """Look for changed files soon, unless that was done a moment ago; what a search calls."""
        now = time.monotonic()
        if place.index.settings.refresh == "never" or place.index.is_shared:
            return
        if self.watching is not None and self.watching.sees(place):
            return
        with self._lock:
            if now - self._looked.get(place.name, 0.0) < LOOK_SECONDS:
                return
            self._looked[place.name] = now
        self.refresh(place, only_if_changed=True)

    def close(self) -> None:
        """End the process that is at work, and take nothing more."""
        with self._lock:
            self._closed = True
        self._jobs.put(None)
        if self.watching is not None:
            self.watching.close()
        self._kill()
        if self._thread.is_alive():
            self._thread.join(_JOIN_SECONDS)

    def _drive(self) -> None:
        for place in self._places:
            _get_ready(place)
        while (job := self._jobs.get()) is not None and not self._closed:
            place, rebuild, only_if_changed = job
            with self._lock:
                self._waiting.discard(place.name)  # who asks from here on means what changed from here on
            try:
                if not only_if_changed or _has_changed(place):
                    self._work(place, rebuild)
            except Exception as error:  # whatever it is, the next job is worked on
                _log.exception("bringing %s up to date failed", escape_name(place.name))
                self._hub.tell(place.name, "failed", detail=f"{error}; look at the server's log")
            with self._lock:
                self._looked[place.name] = time.monotonic()

    def _work(self, place: ServedIndex, rebuild: bool) -> None:
        """Have one index brought up to date, and pass on what its process says."""
        index = place.index
        if rebuild:
            index.lanes.close()
        job = {
            "root": str(index.root),
            "address": index.backend.address,
            "settings": asdict(index.settings),
            "rebuild": rebuild,
        }
        last = ""
        with self._started() as process:
            assert process.stdin is not None and process.stdout is not None  # noqa: S101 - pipes, see below
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
            for line in process.stdout:
                said = json.loads(line)
                last = said["phase"]
                # Words can be searched before anything is embedded.
                if last == "done" or (last == "embed" and not said["done"]):
                    _get_ready(place)
                self._hub.tell(place.name, **said)
            process.wait()  # what is left to do after the last word is not cut short
        if last not in ("done", "failed") and not self._closed:
            self._hub.tell(place.name, "failed", detail="indexing was interrupted; start it again")

    @contextlib.contextmanager
    def _started(self) -> Iterator[subprocess.Popen[str]]:
        """Run the process that does the work; it ends with this, whatever happens."""
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # so that it can be ended with its own processes
        )
        with self._lock:
            self._process = process
        if self._closed:
            self._kill()
        try:
            yield process
        finally:
            self._kill()
            process.communicate()
            with self._lock:
                self._process = None

    def _kill(self) -> None:
        process = self._process
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()


def _get_ready(place: ServedIndex) -> None:
    """Read and start what the first search would have to wait for."""
    place.past_queries.refresh()
    place.names.refresh()
    if place.names.cached() is not None:
        place.index.warm()


def _has_changed(place: ServedIndex) -> bool:
    """Whether files differ from what is indexed, as far as that is quick to say."""
    try:
        index = place.index.as_built()
        if index.settings.refresh == "auto" and index.file_count() > REFRESH_FILES:
            return False
        return bool(index.changes().count)
    except DowseError:
        return True
