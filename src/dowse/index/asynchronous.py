"""`AsyncIndex`: an index for servers on asyncio; a call runs in a thread, and ends when cancelled."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from dowse.deadline import Deadline, current, within
from dowse.index.api import Index

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def _in_thread(
    method: Callable[Concatenate[Index, Parameters], Result],
) -> Callable[Concatenate[AsyncIndex, Parameters], Coroutine[Any, Any, Result]]:
    """Return a method of an index as a coroutine with the same arguments."""

    async def call(self: AsyncIndex, /, *arguments: Parameters.args, **options: Parameters.kwargs) -> Result:
        return await self.run(lambda index: method(index, *arguments, **options))

    functools.update_wrapper(call, method)
    return call


class AsyncIndex:
    """An index whose calls are awaited.

    >>> index = AsyncIndex(Index.open("."))                  # doctest: +SKIP
    >>> answer = await index.search("retry with backoff")    # doctest: +SKIP

    A thread can't be stopped: when its caller is cancelled, e.g. by `asyncio.timeout`, the work ends at the
    next check of its deadline.
    """

    def __init__(self, index: Index) -> None:
        self._index = index

    search = _in_thread(Index.search)
    context = _in_thread(Index.context)
    related = _in_thread(Index.related)
    log = _in_thread(Index.log)
    symbols = _in_thread(Index.symbols)
    status = _in_thread(Index.status)
    update = _in_thread(Index.update)

    async def run(self, work: Callable[[Index], Result]) -> Result:
        """Run any other call in a thread: `await index.run(lambda index: index.graph.callers("main"))`."""
        deadline = Deadline(outer=current())

        def end_in_time() -> Result:
            with within(deadline):
                return work(self._index)

        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(None, copy_context().run, end_in_time)
        finally:
            deadline.cancel()

    async def __aenter__(self) -> AsyncIndex:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.run(Index.close)
