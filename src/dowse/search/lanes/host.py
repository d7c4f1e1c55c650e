"""Lanes at once, each in a process of its own and with a time limit that holds whatever the lane does."""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dowse.search.lanes.jobs import LaneJob, Outcome, failure, log_problem
from dowse.search.lanes.lane_queue import LaneQueue, Waiting
from dowse.search.lanes.registry import LANES, Lane
from dowse.search.lanes.worker import Task

if TYPE_CHECKING:
    from dowse.config import Settings
    from dowse.storage.protocol import Reader


class WorkerSpec(NamedTuple):
    """What the processes work with."""

    address: str  # of the index: a whole path, for a later process may start in another folder
    settings: Settings
    lanes: Mapping[str, Lane] = LANES


class LaneHost:
    """The processes of one index; any number of threads may ask at once. None runs before it is needed."""

    def __init__(self, spec: WorkerSpec) -> None:
        self._spec = spec
        self._lock = threading.Lock()
        self._queues: dict[str, LaneQueue] = {}
        weakref.finalize(self, _close_all, self._queues).atexit = False  # see _kill_processes
        _hosts.add(self)

    def run(self, reader: Reader, jobs: Sequence[LaneJob], seconds: float) -> list[Outcome]:
        """Run jobs at once; what has not answered after so many seconds is left out."""
        deadline = time.monotonic() + seconds
        asked = [self._ask(job, (reader.identity, reader.generation), deadline, seconds) for job in jobs]
        return [each if isinstance(each, Outcome) else each.outcome() for each in asked]

    def warm(self, *lanes: str) -> None:
        """Start the processes of some lanes, or of all, and do not wait for them."""
        for name in lanes or self._spec.lanes:
            if not self._spec.lanes[name].wants_encoder or self._spec.settings.encoder != "none":
                self._queue(name).start()

    def pids(self) -> dict[str, int]:
        """Return the processes that are there, by lane."""
        with self._lock:
            queues = dict(self._queues)
        return {name: pid for name, queue in queues.items() if (pid := queue.pid())}

    def close(self) -> None:
        """End the processes at once; a later question starts new ones."""
        with self._lock:
            queues = dict(self._queues)
            self._queues.clear()
        _close_all(queues)

    def _ask(
        self, job: LaneJob, generation: tuple[str, int], deadline: float, seconds: float
    ) -> Waiting | Outcome:
        try:
            waiting = Waiting(job, generation, deadline, seconds)
            self._queue(job.lane).put(waiting)
        except Exception as error:  # no such lane, arguments that can't be sent, no more threads
            problem, mistake = failure(job.lane, error)
            outcome = Outcome(job.lane, problem=problem, error=mistake)
            log_problem(outcome)
            return outcome
        return waiting

    def _queue(self, name: str) -> LaneQueue:
        with self._lock:
            queue = self._queues.get(name)
            if queue is None:
                spec = self._spec
                queue = LaneQueue(Task(name, spec.lanes[name], spec.address, spec.settings))
                self._queues[name] = queue
            return queue

    def _after_fork(self) -> None:
        """Forget, in a forked process, what belongs to the parent."""
        self._lock = threading.Lock()  # a thread that is not here may have held the old one
        for queue in self._queues.values():
            queue.disown()
        self._queues.clear()


def _close_all(queues: dict[str, LaneQueue]) -> None:
    for queue in queues.values():  # all at once: each takes a moment to go
        queue.stop()
    for queue in queues.values():
        queue.join()
    queues.clear()


# Those whose processes must end with this one, and be left alone by a forked one.
_hosts: weakref.WeakSet[LaneHost] = weakref.WeakSet()


def _kill_processes() -> None:
    """End all processes with this one, and let the system bury them: a command should not wait for that."""
    for host in list(_hosts):
        for queue in list(host._queues.values()):
            queue.stop()


def _forget_processes() -> None:
    for host in list(_hosts):
        host._after_fork()


atexit.register(_kill_processes)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_processes)
