"""Too much at once, and too long: who can't be answered is told so, and nobody else suffers."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import httpx
import pytest

from dowse import Index, deadline
from dowse.errors import TooSlow
from dowse.services.errors import Busy
from dowse.services.thread_pool import BoundedThreadPool
from dowse.services.web.options import Limits, ServeOptions
from interfaces.http.running import Running, running


def _run(work: Coroutine[Any, Any, Any]) -> Any:
    """Run it in a thread of its own: a browser that an earlier test opened keeps a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def test_full_thread_pool_rejects_at_once_and_recovers() -> None:
    gate = threading.Event()

    async def crowd() -> list[object]:
        workers = BoundedThreadPool(Limits(threads=1, waiting=2))
        held = [asyncio.create_task(workers.run(gate.wait)) for _ in range(3)]
        await asyncio.sleep(0)  # all three have taken their place
        with pytest.raises(Busy):
            await workers.run(gate.wait)
        assert workers.pending == 3
        gate.set()
        done = await asyncio.gather(*held)
        assert await workers.run(lambda: "next") == "next"
        workers.close()
        return done

    assert _run(crowd()) == [True] * 3


def test_timed_out_request_still_occupies_its_thread() -> None:
    gate = threading.Event()

    async def late() -> None:
        workers = BoundedThreadPool(Limits(threads=1, waiting=1, seconds=0.05))
        with pytest.raises(TooSlow):
            await workers.run(gate.wait)
        assert workers.pending == 1
        gate.set()
        workers.close()

    _run(late())


def test_overload_is_a_503(inn: Index) -> None:
    gate = threading.Event()
    options = ServeOptions(limits=Limits(threads=1, waiting=0, seconds=20))
    with running([inn], options) as run:
        searching = inn.search
        entered = threading.Event()

        def slow(*arguments: object, **more: object) -> object:
            entered.set()
            gate.wait(20)
            return searching(*arguments, **more)  # type: ignore[arg-type]

        inn.search = slow  # type: ignore[method-assign] - a search that takes as long as we like
        try:
            first = threading.Thread(target=run.get, args=("search",), kwargs={"q": "sweep"})
            first.start()
            assert entered.wait(20)
            answer = run.client.get("/api/v1/search", params={"q": "sweep"})
            assert answer.status_code == 503 and int(answer.headers["retry-after"]) > 0
            assert answer.json()["type"].endswith("busy")
            assert run.get("health")["status"] == "ok"  # the server itself is well
        finally:
            gate.set()
            first.join(20)
            del inn.search
        assert run.get("search", q="sweep")["hits"]


def test_two_hundred_clients_at_once_are_all_answered(inn: Index) -> None:
    limits = Limits()
    with running([inn], ServeOptions(limits=limits)) as run, contextlib.ExitStack() as stack:
        place = (httpx.URL(run.url).host, httpx.URL(run.url).port)
        request = b"GET /api/v1/search?q=sweep+%d HTTP/1.0\r\nHost: localhost\r\n\r\n"
        lines = [stack.enter_context(socket.create_connection(place, timeout=60)) for _ in range(200)]
        for number, line in enumerate(lines):
            line.sendall(request % number)
        answers = [line.makefile("rb").readline().split()[1] for line in lines]
    assert answers == [b"200"] * 200


@contextlib.contextmanager
def _held(index: Index, *starts: str) -> Iterator[threading.Semaphore]:
    """Have searches that start so last until the end, or their deadline; give how many have begun."""
    searching, begun, ended = index.search, threading.Semaphore(0), threading.Event()

    def slow(query: str, **more: Any) -> object:
        if query.startswith(starts):
            begun.release()
            while not ended.wait(0.01):
                deadline.check()
        return searching(query, **more)

    index.search = slow  # type: ignore[method-assign]
    try:
        yield begun
    finally:
        ended.set()
        del index.search


def test_slow_questions_do_not_keep_quick_ones_waiting(inn: Index) -> None:
    queries = ["/./", "/[a-z]*/i", "what calls sweep", "/.*/ lang:python"] * 4
    with running([inn]) as run, ThreadPoolExecutor(16) as pool, _held(inn, "/", "what calls") as begun:
        asked = [pool.submit(run.client.get, "/api/v1/search", params={"q": query}) for query in queries]
        assert all(begun.acquire(timeout=20) for _ in range(Limits().slow_threads))
        for _ in range(20):
            assert run.get("search", q="sweep the floor")["hits"]
        assert run.get("symbol", target="sweep") and run.client.get("/metrics").status_code == 200
        assert not any(each.done() for each in asked)


def test_work_for_a_client_that_is_gone_ends(inn: Index) -> None:
    request = b"GET /api/v1/search?q=%s HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with running([inn]) as run, _held(inn, "slowly", "/") as begun:
        address = httpx.URL(run.url)
        for query in (b"slowly", b"/./"):
            with socket.create_connection((address.host, address.port), timeout=20) as line:
                line.sendall(request % query)
                assert begun.acquire(timeout=20)
        for _ in range(2_000):  # the work looks at its deadline every 10 ms
            if run.state.threads.pending == run.state.slow_threads.pending == 0:
                break
            threading.Event().wait(0.01)
        assert run.state.threads.pending == run.state.slow_threads.pending == 0
        assert 'operation="search",status="499"' in run.client.get("/metrics").text


def test_unexpected_exceptions_show_no_traceback(inn: Index, caplog: pytest.LogCaptureFixture) -> None:
    with running([inn]) as run:

        def broken(*arguments: object, **more: object) -> object:
            raise RuntimeError("a secret detail")

        inn.search = broken  # type: ignore[method-assign]
        try:
            answer = run.client.get("/api/v1/search", params={"q": "sweep"})
        finally:
            del inn.search
        assert answer.status_code == 500 and answer.headers["content-type"] == "application/problem+json"
        assert "secret" not in answer.text and "log" in answer.json()["remedy"]
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert "a secret detail" in caplog.text
        assert 'operation="search",status="500"' in run.client.get("/metrics").text


def test_a_pattern_has_a_time_limit(bakery: Index) -> None:
    hurried = Index(bakery.root, replace(bakery.settings, exact_seconds=1e-9), bakery.backend)
    with running([hurried]) as run:
        problem = run.get("search", 503, q="/./")
        assert problem["type"].endswith("too-slow") and "filter" in problem["remedy"]
        assert run.get("search", q="bread", mode="keyword")["hits"]


def test_a_pattern_that_others_hang_on(server: Running) -> None:
    """RE2 takes linear time, where a backtracking engine would take years."""
    answer = server.get("search", q="/(a+)+$x|(\\w+\\s*)+;;;/", k=5)
    assert answer["mode"] == "regex"
