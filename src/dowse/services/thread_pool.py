"""The thread pool that works on requests: clients take turns, the queue is bounded, each has a deadline."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, TypeVar

from dowse.deadline import Deadline, within
from dowse.errors import TooSlow
from dowse.services.errors import Busy
from dowse.services.web.options import Limits

Result = TypeVar("Result")
# Who sent the request that the current task works on; "" where all requests come from one client.
client_name: ContextVar[str] = ContextVar("client", default="")
# Weight of the last request in the mean time that requests take (exponential moving average). Small, as the
# mean stands for a queue of hundreds, which a few that waited for a lane's new process must not close.
_LAST_SHARE = 0.02
# A request that would wait for a larger share of its time limit is refused at once: its client may retry.
_MAX_WAIT_SHARE = 0.5
# Share of its time limit after which a request has to end, so that what is done by then can still be sent.
_WORK_SHARE = 0.95


class _Job:
    """A request that waits for a thread, or runs."""

    def __init__(self, work: Callable[[], Any], client: str, seconds: float) -> None:
        self.work, self.client = work, client
        self.deadline = Deadline(_WORK_SHARE * seconds)
        self.future: Future[Any] = Future()


class BoundedThreadPool:
    """A thread pool with a queue for each client, of which the first ones run in turn (round robin).

    It refuses work at once when all queues together are full, or would take too long. A new client is never
    refused for the sake of one that has more requests waiting: then that one loses its last.
    """

    def __init__(self, limits: Limits, threads: int | None = None) -> None:
        self._limits, self._threads = limits, threads or limits.threads
        self._executor = ThreadPoolExecutor(self._threads, thread_name_prefix="dowse-serve")
        self._lock = threading.Lock()
        self._queues: OrderedDict[str, deque[_Job]] = OrderedDict()  # none is empty
        self._running = 0
        self._finished, self._mean_seconds = 0, 0.0

    @property
    def pending(self) -> int:
        """How many requests are running or queued."""
        with self._lock:
            return self._running + self._queued

    async def run(self, work: Callable[[], Result]) -> Result:
        """Run a function in a thread; raise Busy if the queue is full, TooSlow if the time limit is exceeded.

        A thread can't be stopped: one that exceeds its time limit, or whose client is gone, ends when it next
        checks its deadline. Until then it counts as pending, so that the number of running threads stays
        bounded; only its client gets an error.
        """
        seconds = self._limits.seconds
        job = _Job(work, client_name.get(), seconds)
        self._admit(job)
        self._executor.submit(self._run_next)
        try:
            result: Result = await asyncio.wait_for(asyncio.wrap_future(job.future), seconds)
            return result
        except TimeoutError:
            raise TooSlow(
                f"no answer within {seconds:g} s; ask for less, e.g. filter by path or language"
            ) from None
        finally:
            job.deadline.cancel()
            self._forget(job)

    def close(self) -> None:
        """Accept no more work, and do not wait for what still runs."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            jobs = [job for queue in self._queues.values() for job in queue]
            self._queues.clear()
        for job in jobs:
            job.future.cancel()

    @property
    def _queued(self) -> int:
        return sum(map(len, self._queues.values()))

    def _admit(self, job: _Job) -> None:
        """Queue a job, in place of one of a client that has more of them if need be."""
        with self._lock:
            own = len(self._queues.get(job.client, ()))
            turns = sum(min(len(queue), own + 1) for queue in self._queues.values())
            wait = turns * self._mean_seconds / self._threads
            if wait > _MAX_WAIT_SHARE * self._limits.seconds:
                raise _busy(wait)
            if self._running + self._queued >= self._threads + self._limits.waiting:
                longest = max(self._queues.values(), key=len, default=None)
                if longest is None or len(longest) <= own + 1:
                    raise _busy(wait)
                evicted = longest.pop().future
                if evicted.set_running_or_notify_cancel():
                    evicted.set_exception(_busy(wait))
            self._queues.setdefault(job.client, deque()).append(job)

    def _take(self) -> _Job | None:
        """Return the first job of the client whose turn it is."""
        with self._lock:
            while self._queues:
                client, queue = self._queues.popitem(last=False)
                job = queue.popleft()
                if queue:
                    self._queues[client] = queue
                if job.future.set_running_or_notify_cancel():
                    self._running += 1
                    return job
            return None

    def _forget(self, job: _Job) -> None:
        """Remove a job that nobody waits for, if it is still in its queue."""
        with self._lock:
            queue = self._queues.get(job.client)
            if queue and job in queue:
                queue.remove(job)
                if not queue:
                    del self._queues[job.client]

    def _run_next(self) -> None:
        """Work on the next job, in a thread; there is none if its client has gone."""
        job = self._take()
        if job is None:
            return
        started = time.monotonic()
        try:
            with within(job.deadline):
                result = job.work()
        except BaseException as error:
            self._finish(started)
            job.future.set_exception(error)
        else:
            self._finish(started)
            job.future.set_result(result)

    def _finish(self, started: float) -> None:
        with self._lock:
            self._running -= 1
            self._finished += 1
            share = max(_LAST_SHARE, 1 / self._finished)
            self._mean_seconds += share * (time.monotonic() - started - self._mean_seconds)


def _busy(wait: float) -> Busy:
    return Busy("the server is overloaded; try again in a moment", wait)
