"""The thread pool of servers: clients take turns, work that nobody waits for ends."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from dowse import deadline
from dowse.errors import Cancelled
from dowse.services.errors import Busy
from dowse.services.thread_pool import BoundedThreadPool, client_name
from dowse.services.web.options import Limits


def _run(work: Coroutine[Any, Any, Any]) -> Any:
    """Run it in a thread of its own: a browser that an earlier test opened keeps a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


async def _as(client: str, work: Coroutine[Any, Any, Any]) -> Any:
    client_name.set(client)
    return await work


def _ask(pool: BoundedThreadPool, client: str, work: Any) -> asyncio.Task[Any]:
    return asyncio.create_task(_as(client, pool.run(work)))


def test_clients_take_turns() -> None:
    async def crowd() -> list[str]:
        gate, order = threading.Event(), list[str]()
        pool = BoundedThreadPool(Limits(threads=1))
        asked = [_ask(pool, "first", gate.wait)]
        for client in "aaaabbc":
            asked.append(_ask(pool, client, lambda client=client: order.append(client)))
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(*asked)
        pool.close()
        return order

    assert "".join(_run(crowd())) == "abcabaa"


def test_a_full_queue_refuses_the_client_that_has_most_in_it() -> None:
    async def crowd() -> None:
        gate = threading.Event()
        pool = BoundedThreadPool(Limits(threads=1, waiting=4))
        greedy = [_ask(pool, "greedy", gate.wait) for _ in range(5)]
        await asyncio.sleep(0)
        other = _ask(pool, "other", lambda: "answer")
        with pytest.raises(Busy):
            await greedy[-1]
        with pytest.raises(Busy):
            await _as("greedy", pool.run(gate.wait))
        gate.set()
        assert await other == "answer" and await asyncio.gather(*greedy[:-1]) == [True] * 4
        pool.close()

    _run(crowd())


def test_three_hundred_cancelled_requests_leave_nothing_to_do() -> None:
    """Those that wait never start; the one that runs ends at its next check."""

    async def crowd() -> None:
        begun, ended, started = threading.Event(), threading.Event(), 0

        def work() -> None:
            nonlocal started
            started += 1
            begun.set()
            try:
                while True:
                    deadline.check()
            except Cancelled:
                ended.set()
                raise

        pool = BoundedThreadPool(Limits(threads=1))
        asked = [_ask(pool, "", work) for _ in range(300)]
        await asyncio.to_thread(begun.wait)
        for each in asked:
            each.cancel()
        assert await pool.run(lambda: "next") == "next"
        assert ended.is_set() and started == 1 and pool.pending == 0
        pool.close()

    _run(crowd())


def test_a_request_that_would_wait_too_long_is_told_when_to_come_back() -> None:
    async def crowd() -> None:
        gate = threading.Event()
        pool = BoundedThreadPool(Limits(threads=1, seconds=20.0))
        pool._mean_seconds = 6.0  # as after some requests that took so long
        held = [_ask(pool, "", gate.wait) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(Busy) as refused:
            await pool.run(gate.wait)
        assert refused.value.seconds > 10
        assert await _as("new", asyncio.wait_for(_released(pool, gate), 20)) == "answer"
        await asyncio.gather(*held)
        pool.close()

    async def _released(pool: BoundedThreadPool, gate: threading.Event) -> str:
        answer = asyncio.create_task(pool.run(lambda: "answer"))  # a client of its own has its turn soon
        await asyncio.sleep(0)
        gate.set()
        return await answer

    _run(crowd())


def test_a_few_slow_requests_refuse_nobody() -> None:
    """Those that waited for a lane whose process was killed took long; two hundred clients still wait."""

    async def crowd() -> None:
        gate = threading.Event()
        pool = BoundedThreadPool(Limits(threads=8, seconds=20.0))
        for seconds in [0.1] * 100 + [3.0] * 4:
            pool._running += 1
            pool._finish(time.monotonic() - seconds)
        asked = [_ask(pool, f"client {number}", gate.wait) for number in range(200)]
        await asyncio.sleep(0)
        gate.set()
        assert all(await asyncio.gather(*asked))
        pool.close()

    _run(crowd())
