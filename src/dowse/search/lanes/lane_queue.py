"""The queue of one lane's jobs, and the thread that has them done by the lane's process.

A caller puts a job into the queue and waits until its deadline at most. The time limit of a job begins when
the process is ready, so that a model which loads slowly costs no answer. The process gets one request at a
time, so that all other jobs are still here when it hangs or dies, and go to the next process.
"""

from __future__ import annotations

import pickle
import threading
import time
from collections import deque
from collections.abc import Mapping

from dowse import deadline
from dowse.search.lanes.jobs import Outcome, log_problem
from dowse.search.lanes.worker import GRACE_SECONDS, START_SECONDS, LaneReply, LaneRequest, LaneSetup
from dowse.workers.frames import MAX_BYTES
from dowse.workers.program import worker_program
from dowse.workers.supervisor import CircuitBreaker, Supervisor, WorkerDied

# The circuit breaker: after so many deaths without an answer in between, a lane refuses jobs for so long.
# Starting a process that can't live for every query of a burst would slow down the lanes that can.
MAX_DEATHS = 3
OPEN_SECONDS = 5.0
# How long `join` waits for a thread that is about to end.
_JOIN_SECONDS = 5.0
# How often a caller that waits looks whether its query was cancelled.
_POLL_SECONDS = 0.05
# Half of what a message may have: all else in a request is small.
_MAX_ARGUMENTS = MAX_BYTES // 2


class LaneQueue:
    """The jobs of one lane; thread-safe."""

    def __init__(self, setup: LaneSetup) -> None:
        self._setup = setup
        self._changed = threading.Condition()
        self._jobs: deque[PendingJob] = deque()
        program = worker_program("dowse.search.lanes.worker")
        self._worker = Supervisor(program, start_seconds=START_SECONDS)
        self._breaker = CircuitBreaker(MAX_DEATHS, OPEN_SECONDS)
        self._start_requested = False  # whether a process should be started without a job
        self._closed = False
        self._last_death = ""
        self._thread = threading.Thread(target=self._drive, name=f"dowse-{setup.name}", daemon=True)
        self._thread.start()

    def put(self, job: PendingJob, arguments: Mapping[str, object]) -> None:
        """Queue a job; it is refused at once while the circuit breaker is open."""
        job.arguments = pickle.dumps(arguments, pickle.HIGHEST_PROTOCOL)
        if len(job.arguments) > _MAX_ARGUMENTS:
            raise ValueError(f"a request of {len(job.arguments) / 1e6:.0f} MB is too large")
        with self._changed:
            if self._closed or self._breaker.remaining_seconds:
                job.finish(self._refusal())
                return
            if self._worker.is_ready:
                job.start_clock()
            self._jobs.append(job)
            self._changed.notify()

    def start(self) -> None:
        """Have the process started, and do not wait for it."""
        with self._changed:
            self._start_requested = True
            self._changed.notify()

    def pid(self) -> int | None:
        """Return the id of the process, if there is one."""
        return self._worker.pid

    def state(self) -> str:
        """Return "up", "starting", or "failing" if the process has died and is not ready again."""
        if self._worker.is_ready and self._worker.pid is not None:
            return "up"
        return "failing" if self._last_death else "starting"

    def stop(self) -> None:
        """Kill the process; jobs that wait are refused."""
        with self._changed:
            self._closed = True
            self._refuse_all()
            self._worker.stop()
            self._changed.notify()

    def join(self) -> None:
        """Wait until process and thread are gone."""
        if self._thread is not threading.current_thread():  # the garbage collector may call from anywhere
            self._thread.join(_JOIN_SECONDS)

    def _drive(self) -> None:
        """Send jobs to the process, one after another."""
        while self._wait_for_work():
            try:
                self._start_worker()
                self._do_next()
            except Exception as error:  # whatever it is, the next job gets a new process
                self._discard_worker(_cause(error))
        self._worker.discard()

    def _start_worker(self) -> None:
        """Start the process, unless it runs; the clocks of all jobs stand still meanwhile."""
        if self._worker.pid is None:
            with self._changed:
                for job in self._jobs:
                    job.stop_clock()
        self._worker.start(self._setup)
        with self._changed:
            for job in self._jobs:
                job.start_clock()

    def _wait_for_work(self) -> bool:
        """Wait until there is something to do; False once the queue is closed."""
        with self._changed:
            while not (self._jobs or self._start_requested or self._closed):
                self._changed.wait()
            self._start_requested = False
            return not self._closed

    def _do_next(self) -> None:
        """Send the first job that a caller still waits for, and pass on the reply."""
        while (job := self._take()) is not None:
            request = job.request()
            if request is None:
                continue
            try:
                # A little longer than the caller waits: a reply that is late still saves the process.
                job.finish(self._worker.exchange(request, request.seconds + GRACE_SECONDS))
            except Exception as error:
                why = "closed" if self._closed else f"its process {_cause(error)}"
                job.finish(LaneReply(problem=f"{self._setup.name}: {why}"))
                raise
            self._breaker.record_success()
            return

    def _take(self) -> PendingJob | None:
        with self._changed:
            return self._jobs.popleft() if self._jobs else None

    def _discard_worker(self, cause: str) -> None:
        """Record the death of the process; refuse all jobs if the circuit breaker opens."""
        with self._changed:
            self._last_death = cause
            if not self._closed:
                self._breaker.record_death()
                if self._breaker.remaining_seconds:
                    self._refuse_all()
        self._worker.discard()

    def _refuse_all(self) -> None:
        while self._jobs:
            self._jobs.popleft().finish(self._refusal())

    def _refusal(self) -> LaneReply:
        why = f"circuit breaker open after repeated failures (its process {self._last_death})"
        return LaneReply(problem=f"{self._setup.name}: {'closed' if self._closed else why}")


class PendingJob:
    """A job that a caller waits for until its deadline."""

    def __init__(self, lane: str, generation: tuple[str, int], seconds: float, start_seconds: float) -> None:
        """Describe a job whose process is not ready yet.

        Args:
            lane: The lane.
            generation: Identity of the index and number of its generation.
            seconds: How long the caller waits from the moment that the process is ready.
            start_seconds: How long it waits for that moment.
        """
        self._lane, self._generation = lane, generation
        self._seconds, self._start_seconds = seconds, start_seconds
        self._created = time.monotonic()
        self._deadline = self._created + start_seconds
        self._is_starting = True
        self._changed = threading.Condition()
        self._reply: LaneReply | None = None
        self._abandoned = False
        self.arguments = b""  # pickled

    def start_clock(self) -> None:
        """Let the time limit begin, if it has not: the process is ready."""
        with self._changed:
            if self._is_starting:
                self._is_starting, self._deadline = False, time.monotonic() + self._seconds
                self._changed.notify()

    def stop_clock(self) -> None:
        """Let the caller wait for another process, for as long as a start may take."""
        with self._changed:
            self._is_starting, self._deadline = True, self._created + self._start_seconds

    def request(self) -> LaneRequest | None:
        """Return the request for the process; None if no caller waits for the reply any more."""
        left = self._deadline - time.monotonic()
        if self._abandoned or left <= 0:
            return None
        return LaneRequest(left, self._generation, self.arguments)

    def finish(self, reply: LaneReply) -> None:
        """Hand over the reply; the caller may have given up."""
        with self._changed:
            self._reply = reply
            self._changed.notify()

    def outcome(self) -> Outcome:
        """Wait for the reply until the deadline."""
        try:
            with self._changed:
                while self._reply is None and (left := self._deadline - time.monotonic()) > 0:
                    deadline.check_cancelled()
                    self._changed.wait(min(left, _POLL_SECONDS))
                reply = self._reply or LaneReply(problem=self._timeout_problem())
        finally:
            self._abandoned = True  # also when interrupted
        milliseconds = 1000 * (time.monotonic() - self._created)
        outcome = Outcome(self._lane, reply.result, reply.problem, milliseconds, reply.is_stale, reply.error)
        log_problem(outcome, reply.detail)
        return outcome

    def _timeout_problem(self) -> str:
        if self._is_starting:
            return f"{self._lane}: still starting after {self._start_seconds:.3g} s"
        return f"{self._lane}: no answer within {self._seconds:.3g} s"


def _cause(error: Exception) -> str:
    return str(error) if isinstance(error, WorkerDied) else f"could not be used ({error!r})"
