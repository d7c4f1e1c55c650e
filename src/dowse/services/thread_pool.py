"""The thread pool that works on requests, with a bounded queue (backpressure) and a time limit for each."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from dowse.errors import TooSlow
from dowse.services.errors import Busy
from dowse.services.web.options import Limits

Result = TypeVar("Result")


class BoundedThreadPool:
    """A thread pool that rejects work at once when its queue is full."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._executor = ThreadPoolExecutor(limits.threads, thread_name_prefix="dowse-serve")
        self._lock = threading.Lock()
        self._pending = 0

    @property
    def pending(self) -> int:
        """How many requests are running or queued."""
        return self._pending

    async def run(self, work: Callable[[], Result]) -> Result:
        """Run a function in a thread; raise Busy if the queue is full, TooSlow if the time limit is exceeded.

        A thread can't be stopped: one that exceeds its time limit counts as pending until it is done, so that
        the number of running threads stays bounded; only its client gets an error.
        """
        with self._lock:
            if self._pending >= self._limits.threads + self._limits.waiting:
                raise Busy("the server is overloaded; try again in a moment")
            self._pending += 1
        future = self._executor.submit(work)
        future.add_done_callback(self._finish)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._limits.seconds)
        except TimeoutError:
            raise TooSlow(
                f"no answer within {self._limits.seconds:g} s; ask for less, e.g. filter by path or language"
            ) from None

    def _finish(self, _: Future[Result]) -> None:
        with self._lock:
            self._pending -= 1

    def close(self) -> None:
        """Accept no more work, and do not wait for what still runs."""
        self._executor.shutdown(wait=False, cancel_futures=True)
