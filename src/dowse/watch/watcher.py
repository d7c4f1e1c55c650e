"""A watcher, seen from the process that wants one: start it, ask it, stop it."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from dowse.errors import DowseError
from dowse.runtime_paths import digest, runtime_folder
from dowse.watch.events import WatchEvent, WatchOptions

if TYPE_CHECKING:
    from dowse.index import Index

# How long the process may take to end by itself: it finishes what it is committing.
_END_SECONDS = 5.0
# Before a process that died is replaced; twice as long each time, up to the second, if it dies at once.
_RESTART_SECONDS, _MOST_RESTART_SECONDS = 0.5, 30.0
# A process that lived so long did not die at once.
_GOOD_LIFE_SECONDS = 60.0
_FIELDS = frozenset(field.name for field in fields(WatchEvent))
# The caller's own search path, so that the process finds the very same package.
_PROGRAM = """import sys; sys.path[:] = {path!r}
from dowse.watch.process import main; sys.exit(main())"""


def _nobody(_: WatchEvent) -> None:
    """Tell nobody."""


class Watcher:
    """Keeps one index true while files change, in a process of its own at low priority.

    The process is replaced if it dies, and ends with this one, however this one ends. Where another process
    watches the index already, it waits until that is gone: the work is never done twice.
    """

    def __init__(
        self,
        index: Index,
        on_event: Callable[[WatchEvent], None] = _nobody,
        options: WatchOptions | None = None,
    ) -> None:
        """Prepare to watch; nothing happens before `start`.

        Args:
            index: What to keep true. It is only read here, and may be searched all the while.
            on_event: Called from the watcher's thread with all that happens; should be quick.
            options: How it behaves.
        """
        from dowse.source.corpus import is_corpus

        if is_corpus(index.root) or not index.root.is_dir():
            raise DowseError(f"{index.root} is a corpus, which nobody edits; run `dowse index` for a new one")
        if index.is_shared:
            raise DowseError("an index that many share is kept by `dowse index` alone, e.g. from a timer")
        self.index = index
        self._on_event, self._options = on_event, options or WatchOptions()
        self._process: subprocess.Popen[str] | None = None
        self._stopping = threading.Event()
        self._watches = False
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._asked: dict[int, tuple[threading.Event, list[bool]]] = {}
        self._thread = threading.Thread(target=self._drive, name="dowse-watcher", daemon=True)

    def start(self) -> None:
        """Begin; returns at once. The first scan catches up with whatever happened before."""
        self._thread.start()

    def stop(self) -> None:
        """End the process, which finishes what it is committing; what was committed stays."""
        self._stopping.set()
        self._send({"end": True})
        if self._thread.is_alive():
            self._thread.join(_END_SECONDS)
        self._kill()
        if self._thread.is_alive():
            self._thread.join(_END_SECONDS)

    @property
    def is_watching(self) -> bool:
        """Whether this one, not another process, sees changes now."""
        return self._watches

    @property
    def pid(self) -> int | None:
        """The process that does the work, if there is one."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def settle(self, seconds: float, meaning: bool = False) -> bool:
        """Wait until all that was saved before this call can be searched; False if that takes longer.

        Args:
            seconds: How long to wait.
            meaning: Whether to wait for vectors too, not only for words.
        """
        if not self._watches:
            return False
        number, answered, said = next(self._numbers), threading.Event(), [False]
        self._asked[number] = (answered, said)
        try:
            return (
                self._send({"settle": number, "meaning": meaning}) and answered.wait(seconds) and not said[0]
            )
        finally:
            self._asked.pop(number, None)

    def _drive(self) -> None:
        """Run one process after another until it is enough."""
        pause = _RESTART_SECONDS
        while not self._stopping.is_set():
            began = time.monotonic()
            try:
                self._live()
            except OSError as error:
                self._tell("failed", detail=f"the process could not start: {error}")
            self._watches = False
            self._release()
            if self._stopping.is_set():
                break
            pause = _RESTART_SECONDS if time.monotonic() - began > _GOOD_LIFE_SECONDS else pause
            self._tell("failed", detail=f"the process ended; another starts in {pause:.3g} s")
            self._stopping.wait(pause)
            pause = min(2 * pause, _MOST_RESTART_SECONDS)
        self._tell("stopped")

    def _live(self) -> None:
        """Run one process and pass on what it says until it ends."""
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # so that it can be ended with its own processes
            # Libraries that count for themselves: one core means one.
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        self._process = process
        try:
            self._send(self._job())
            if self._stopping.is_set():
                self._send({"end": True})
            for line in cast("IO[str]", process.stdout):
                self._hear(json.loads(line))
        finally:
            self._kill()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    cast("IO[str]", pipe).close()
            process.wait()

    def _job(self) -> dict[str, Any]:
        index, options = self.index, self._options
        settings = replace(index.settings, threads=options.threads, processes=options.processes)
        return {
            "root": str(index.root),
            "address": index.backend.address,
            "settings": asdict(settings),
            "poll": options.poll,
            "niceness": options.niceness,
            "lock": str(Path(runtime_folder(), f"{digest(index.backend.address)}.watch")),
        }

    def _hear(self, said: dict[str, Any]) -> None:
        kind = said["kind"]
        if kind == "settled":
            waiting = self._asked.get(said["number"])
            if waiting is not None:
                waiting[1][0] = bool(said.get("failed"))
                waiting[0].set()
            return
        if kind == "watching":
            self._watches = True
        self._tell(**{name: value for name, value in said.items() if name in _FIELDS})

    def _tell(self, kind: str, **more: Any) -> None:  # noqa: ANN401 - fields of the event
        self._on_event(WatchEvent(kind, str(self.index.root), **more))

    def _send(self, message: dict[str, Any]) -> bool:
        process = self._process
        if process is None or process.stdin is None:
            return False
        with self._lock:
            try:
                process.stdin.write(json.dumps(message) + "\n")
                process.stdin.flush()
            except (OSError, ValueError):  # it is gone, and its pipe may be closed
                return False
        return True

    def _release(self) -> None:
        """Let go of those who wait for an answer that will not come."""
        for answered, said in list(self._asked.values()):
            said[0] = True
            answered.set()

    def _kill(self) -> None:
        process = self._process
        if process is None or process.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
