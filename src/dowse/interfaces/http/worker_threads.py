"""Where requests are worked on: some threads, a short line before them, and a time limit for each."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from dowse.errors import TooSlow
from dowse.interfaces.http.options import Limits
from dowse.interfaces.http.problems import Busy

Result = TypeVar("Result")


class Workers:
    """Threads that search; whoever finds the line too long is told at once to come back later."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._threads = ThreadPoolExecutor(limits.threads, thread_name_prefix="dowse-serve")
        self._lock = threading.Lock()
        self._held = 0

    @property
    def held(self) -> int:
        """How many requests are being worked on, or wait."""
        return self._held

    async def run(self, work: Callable[[], Result]) -> Result:
        """Do something in a thread.

        A thread can't be stopped: one whose time is up keeps its place until it is done, so that what runs
        stays bounded, and only its client is sent away.
        """
        with self._lock:
            if self._held >= self._limits.threads + self._limits.waiting:
                raise Busy("the server has more to do than it can take on; try again in a moment")
            self._held += 1
        future = self._threads.submit(work)
        future.add_done_callback(self._let_go)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._limits.seconds)
        except TimeoutError:
            raise TooSlow(
                f"no answer within {self._limits.seconds:g} s; ask for less, e.g. filter by path or language"
            ) from None

    def _let_go(self, _: Future[Result]) -> None:
        with self._lock:
            self._held -= 1

    def close(self) -> None:
        """Take nothing more, and do not wait for what still runs."""
        self._threads.shutdown(wait=False, cancel_futures=True)
