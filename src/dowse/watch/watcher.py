"""A watcher, seen from the process that uses it: start it, wait for it, stop it."""

from __future__ import annotations

import itertools
import os
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dowse.errors import DowseError
from dowse.runtime_paths import digest, runtime_folder
from dowse.watch.commands import END, Settle, WatchJob
from dowse.workers.program import worker_program
from dowse.workers.supervisor import CircuitBreaker, Supervisor, WorkerDied

if TYPE_CHECKING:
    from dowse.index import Index

# How long the process may take to end by itself: it finishes what it is committing.
_END_SECONDS = 5.0
# Before a process that died is replaced; twice as long each time, up to the second, if it dies at once.
_RESTART_SECONDS, MAX_RESTART_SECONDS = 0.5, 30.0
# A process that lived so long did not die at once.
_HEALTHY_SECONDS = 60.0


# In the order in which they happen:
#   waiting    another process watches this index, or writes to it; `detail` says which
#   watching   changes are seen from now on; `detail` says how ("inotify", "polling every 2 s …")
#   index      files are being read: `done` of `total`
#   indexed    words can be searched as files are now: `added`, `changed`, `deleted`, `generation`
#   embed      symbols are being encoded: `done` of `total`
#   embedded   vectors can be searched too; `done` symbols were given one
#   failed     the update failed; `detail` says why, and it is tried again
#   stopped    the last event
EventKind = Literal["waiting", "watching", "index", "indexed", "embed", "embedded", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One event of a watcher."""

    kind: EventKind
    root: str  # of the index
    detail: str = ""
    done: int = 0
    total: int = 0
    added: int = 0
    changed: int = 0
    deleted: int = 0
    generation: int = 0
    seconds: float = 0.0  # that the work took


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """Options of a watcher."""

    threads: int = 1  # that encode
    niceness: int = 10  # of all the work; what people do comes first
    poll: bool = False  # find changes by polling, as where the system reports none


class Watcher:
    """Keeps one index up to date while files change, in a process of its own at low priority.

    The process is replaced if it dies, and ends with this one, however this one ends. Where another process
    watches the index already, it waits until that is gone: the work is never done twice.
    """

    def __init__(
        self,
        index: Index,
        on_event: Callable[[WatchEvent], None] = lambda _: None,
        options: WatchOptions | None = None,
    ) -> None:
        """Prepare to watch; nothing happens before `start`.

        Args:
            index: The index to keep up to date. It is only read here, and may be searched all the while.
            on_event: Called from the watcher's thread with every event; should be quick.
            options: How it behaves.
        """
        from dowse.source.corpus import is_corpus

        if is_corpus(index.root) or not index.root.is_dir():
            raise DowseError(f"{index.root} is a corpus, which nobody edits; run `dowse index` for a new one")
        if index.is_shared:
            raise DowseError("a shared index can't be watched; run `dowse index` instead, e.g. from a timer")
        self.index = index
        self._on_event, self._options = on_event, options or WatchOptions()
        self._worker = Supervisor(
            worker_program("dowse.watch.process"),
            own_group=True,
            # Libraries that have thread pools of their own: one core means one.
            environment={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        self._breaker = CircuitBreaker(1, _RESTART_SECONDS, MAX_RESTART_SECONDS)
        self._stopping = threading.Event()
        self.is_watching = False  # whether this one, not another process, sees changes now
        self._numbers = itertools.count(1)
        self._settling: dict[int, queue.SimpleQueue[bool]] = {}
        self._thread = threading.Thread(target=self._drive, name="dowse-watcher", daemon=True)

    def start(self) -> None:
        """Begin; returns at once. The first scan finds whatever happened before."""
        self._thread.start()

    def stop(self) -> None:
        """End the process, which finishes what it is committing; what was committed stays."""
        self._stopping.set()
        self._worker.send(END)
        if self._thread.is_alive():
            self._thread.join(_END_SECONDS)
        self._worker.stop()
        if self._thread.is_alive():
            self._thread.join(_END_SECONDS)

    @property
    def pid(self) -> int | None:
        """The id of the process that does the work, if there is one."""
        return self._worker.pid

    def settle(self, seconds: float, vectors: bool = False) -> bool:
        """Wait until all that was saved before this call can be searched; False if that takes longer.

        Args:
            seconds: How long to wait.
            vectors: Whether to wait for vectors too, not only for words.
        """
        if not self.is_watching:
            return False
        number, answer = next(self._numbers), queue.SimpleQueue[bool]()
        self._settling[number] = answer
        try:
            return self._worker.send(Settle(number, vectors)) and answer.get(timeout=seconds)
        except queue.Empty:
            return False
        finally:
            self._settling.pop(number, None)

    def _drive(self) -> None:
        """Run one process after another until `stop`."""
        while not self._stopping.is_set():
            started = time.monotonic()
            cause = self._run_process()
            self.is_watching = False
            for answer in list(self._settling.values()):  # that will not come
                answer.put(False)
            if self._stopping.is_set():
                break
            if time.monotonic() - started > _HEALTHY_SECONDS:
                self._breaker.record_success()
            self._breaker.record_death()
            pause = self._breaker.remaining_seconds
            self._emit("failed", detail=f"the process {cause}; another starts in {pause:.3g} s")
            self._stopping.wait(pause)
        self._emit("stopped")

    def _run_process(self) -> str:
        """Run one process and pass on its events until it ends; return why it did."""
        try:
            self._worker.start(self._job())
            if self._stopping.is_set():
                self._worker.send(END)
            for event in self._worker.messages():
                self._handle(**event)
            return "ended"
        except WorkerDied as error:
            return str(error)
        finally:
            self._worker.discard()

    def _job(self) -> WatchJob:
        index, options = self.index, self._options
        return WatchJob(
            index.root,
            index.backend.address,
            replace(index.settings, threads=options.threads, processes=1),
            options.poll,
            options.niceness,
            str(Path(runtime_folder(), f"{digest(index.backend.address)}.watch")),
        )

    def _handle(self, kind: Any, **fields: Any) -> None:  # noqa: ANN401 - as `UpdateLoop` reports them
        if kind == "settled":
            answer = self._settling.get(fields["number"])
            if answer is not None:
                answer.put(not fields.get("failed"))
            return
        if kind == "watching":
            self.is_watching = True
        self._emit(kind, **fields)

    def _emit(self, kind: EventKind, **fields: Any) -> None:  # noqa: ANN401 - fields of the event
        self._on_event(WatchEvent(kind, str(self.index.root), **fields))
