"""Runs lanes in parallel, each in a process of its own with a time limit that the system enforces."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dowse import deadline
from dowse.search.lanes.jobs import LANES, START_SECONDS, Lane, LaneJob, Outcome, failure
from dowse.search.lanes.lane_queue import LaneQueue, PendingJob
from dowse.search.lanes.worker import LaneReply, LaneSetup

if TYPE_CHECKING:
    from dowse.config import Settings
    from dowse.storage.protocol import Reader


class LaneHost:
    """The lane processes of one index; thread-safe. Each is started when it is first needed."""

    def __init__(
        self,
        address: str,
        settings: Settings,
        lanes: Mapping[str, Lane] = LANES,
        start_seconds: float = START_SECONDS,
    ) -> None:
        """Prepare; the address of the index is a whole path, for this process may change its folder."""
        self._address, self._settings, self._lanes = address, settings, lanes
        self._start_seconds = start_seconds
        self._lock = threading.Lock()
        self._queues: dict[str, LaneQueue] = {}
        # Not at exit: then the processes are killed, and nobody waits for them (`workers.supervisor`).
        weakref.finalize(self, _close_all, self._queues).atexit = False
        _hosts.add(self)

    def run(self, reader: Reader, jobs: Sequence[LaneJob], seconds: float) -> list[Outcome]:
        """Run jobs in parallel; a lane that misses the deadline has a problem instead of a result.

        The deadline is `seconds` after the lane's process is ready, for which there is a limit of its own.
        """
        seconds = deadline.seconds_left(seconds)
        start_seconds = deadline.seconds_left(self._start_seconds)
        generation = (reader.identity, reader.generation)
        pending = [PendingJob(job.lane, generation, seconds, start_seconds) for job in jobs]
        for job, each in zip(jobs, pending, strict=True):
            try:
                self._queue(job.lane).put(each, job.arguments)
            except Exception as error:  # no such lane, arguments that can't be sent, no more threads
                problem, user_error = failure(job.lane, error)
                each.finish(LaneReply(problem=problem, error=user_error))
        return [each.outcome() for each in pending]

    def warm(self, *lanes: str) -> None:
        """Start the processes of some lanes, or of all, and do not wait for them."""
        for name in lanes or self._lanes:
            if not self._lanes[name].wants_encoder or self._settings.encoder != "none":
                self._queue(name).start()

    def pids(self) -> dict[str, int]:
        """Return the ids of the processes that run, by lane."""
        with self._lock:
            queues = dict(self._queues)
        return {name: pid for name, queue in queues.items() if (pid := queue.pid())}

    def states(self) -> dict[str, str]:
        """Return the state of every lane that has been asked for: up, starting or failing."""
        with self._lock:
            queues = dict(self._queues)
        return {name: queue.state() for name, queue in queues.items()}

    def close(self) -> None:
        """End the processes at once; a later job starts new ones."""
        with self._lock:
            queues = dict(self._queues)
            self._queues.clear()
        _close_all(queues)

    def _queue(self, name: str) -> LaneQueue:
        with self._lock:
            queue = self._queues.get(name)
            if queue is None:
                queue = LaneQueue(LaneSetup(name, self._lanes[name], self._address, self._settings))
                self._queues[name] = queue
            return queue

    def _after_fork(self) -> None:
        """Forget the threads of the parent in a forked process; supervisors forget its processes."""
        self._lock = threading.Lock()  # a thread that is not here may have held the old one
        self._queues.clear()


def _close_all(queues: dict[str, LaneQueue]) -> None:
    for queue in queues.values():  # all at once: each takes a moment to go
        queue.stop()
    for queue in queues.values():
        queue.join()
    queues.clear()


_hosts: weakref.WeakSet[LaneHost] = weakref.WeakSet()


def _reset_hosts() -> None:
    for host in list(_hosts):
        host._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_hosts)
