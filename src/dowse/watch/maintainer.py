"""The worker that maintains indexes, seen from the process that uses it."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dowse.errors import DowseError
from dowse.lazy_classes import replace
from dowse.watch.messages import END, TASKS, EventKind, Forget, Request, Task, WatchEvent
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
# Searches come first where cores are scarce.
NICENESS = 10


class Maintainer:
    """Has indexes updated, linked, embedded, learnt and watched by one process at low priority.

    The process starts when something is to be done and ends when nothing is. One that dies is replaced for
    the indexes that it watched; it ends with this process, however that ends. Where another process watches
    an index already, it waits until that is gone: the work is never done twice.
    """

    def __init__(
        self,
        on_event: Callable[[WatchEvent], None] = lambda _: None,
        *,
        niceness: int = NICENESS,
        threads: int | None = None,
        poll: bool = False,
    ) -> None:
        """Prepare; nothing runs before the first request.

        Args:
            on_event: Called from a thread with every event; should be quick.
            niceness: Of all the work; what people do comes first.
            threads: That encode; None for the setting.
            poll: Find changes by polling, as where the system reports none.
        """
        self._on_event, self._niceness, self._threads, self._poll = on_event, niceness, threads, poll
        # Libraries that have thread pools of their own.
        limits = {} if threads is None else dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"))
        self._worker = Supervisor(
            worker_program("dowse.watch.worker"),
            own_group=True,
            environment={**os.environ, **{name: str(threads) for name in limits}},
        )
        self._breaker = CircuitBreaker(1, _RESTART_SECONDS, MAX_RESTART_SECONDS)
        self._lock = threading.Lock()
        self._requests: dict[str, Request] = {}  # what is not finished
        self._watching: set[str] = set()  # indexes of which this process, not another one, sees changes now
        self._numbers = itertools.count(1)
        self._has_work, self._is_closing = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def request(self, index: Index, task: Task) -> None:
        """Have something done with an index; returns at once.

        The index is only read in this process, and may be searched all the while.
        """
        if task == "watch":
            _refuse_to_watch(index)
        key, settings = _key(index), index.settings
        threads = max(1, settings.threads // 2) if task == "finish" else self._threads or settings.threads
        place = (index.root, index.backend.address, replace(settings, threads=threads))
        request = Request(key, next(self._numbers), task, *place, self._poll)
        with self._lock:
            known = self._requests.get(key)
            is_less = known is not None and TASKS.index(task) < TASKS.index(known.task)
            self._requests[key] = known._replace(number=request.number) if known and is_less else request
            self._has_work.set()
            if self._thread is None and not self._is_closing.is_set():
                self._thread = threading.Thread(target=self._drive, name="dowse-maintainer", daemon=True)
                self._thread.start()
        self._worker.send(request)

    def forget(self, index: Index) -> None:
        """Do nothing more with an index."""
        with self._lock:
            self._requests.pop(_key(index), None)
            self._watching.discard(_key(index))
        self._worker.send(Forget(_key(index)))

    def is_watching(self, index: Index) -> bool:
        """Whether changes of an index are seen now."""
        return _key(index) in self._watching

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being done or watched."""
        return not self._requests

    @property
    def pid(self) -> int | None:
        """The id of the process that does the work, if there is one."""
        return self._worker.pid

    def close(self) -> None:
        """End the process, which finishes what it is committing; what was committed stays."""
        with self._lock:
            self._is_closing.set()
            self._has_work.set()
        self._worker.send(END)
        thread = self._thread
        if thread is not None:
            thread.join(_END_SECONDS)
        self._worker.stop()
        if thread is not None:
            thread.join(_END_SECONDS)

    def _drive(self) -> None:
        """Run one process after another, whenever there is something to do."""
        while self._has_work.wait() and not self._is_closing.is_set():
            started = time.monotonic()
            cause = self._run_process()
            self._watching.clear()
            if cause and not self._is_closing.is_set():
                if time.monotonic() - started > _HEALTHY_SECONDS:
                    self._breaker.record_success()
                self._breaker.record_death()
                self._give_up(cause)
                self._is_closing.wait(self._breaker.remaining_seconds)
            with self._lock:
                if not self._requests and not self._is_closing.is_set():
                    self._has_work.clear()
        self._emit("stopped")

    def _run_process(self) -> str:
        """Run one process and pass on its events until it ends; return why it did, "" if it was done."""
        try:
            self._worker.start(self._niceness)
            with self._lock:
                requests = list(self._requests.values())
            for request in requests:
                self._worker.send(request)
            if self._is_closing.is_set():
                self._worker.send(END)
            while True:
                self._handle(**self._worker.receive())
        except WorkerDied as error:
            return "" if error.detail == "exit code 0" else str(error)
        finally:
            self._worker.discard()

    def _give_up(self, cause: str) -> None:
        """After a death, what is watched is tried again; whatever else was requested may be the reason."""
        with self._lock:
            requests = self._requests
            self._requests = {key: each for key, each in requests.items() if each.task == "watch"}
        pause = self._breaker.remaining_seconds
        for key, request in requests.items():
            again = f"; another starts in {pause:.3g} s" if key in self._requests else ""
            self._emit("failed", str(request.root), detail=f"the process {cause}{again}")

    def _handle(self, kind: Any, key: str, **fields: Any) -> None:  # noqa: ANN401 - as `Worker` reports them
        with self._lock:
            request = self._requests.get(key)
            if kind == "watching":
                self._watching.add(key)
            elif kind == "finished" and (request is None or fields.pop("number") != request.number):
                return  # more was requested meanwhile
            elif kind == "finished":
                del self._requests[key]
        if request is not None:
            self._emit(kind, str(request.root), **fields)

    def _emit(self, kind: EventKind, root: str = "", **fields: Any) -> None:  # noqa: ANN401 - of the event
        self._on_event(WatchEvent(kind, root, **fields))


def _key(index: Index) -> str:
    """Return what tells an index from others: several roots may share one on a cluster."""
    return f"{index.root}\0{index.backend.address}"


def _refuse_to_watch(index: Index) -> None:
    from dowse.source.corpus import is_corpus

    if is_corpus(index.root) or not index.root.is_dir():
        raise DowseError(f"{index.root} is a corpus, which nobody edits; run `dowse index` for a new one")
    if index.is_shared:
        raise DowseError("a shared index can't be watched; run `dowse index` instead, e.g. from a timer")
