"""Clients that keep the server waiting: they are dropped, and nobody else waits for them."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from dowse import Index
from dowse.services.web.options import Limits, ServeOptions
from interfaces.http.running import Running, running

# Long for a machine that does other things, never waited for in full.
PATIENCE = 240.0
HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: "


def connected(url: str, sent: bytes, source: str = "127.0.0.1") -> socket.socket:
    """Connect and send something; whoever closes first, the test goes on."""
    address = httpx.URL(url)
    line = socket.create_connection((address.host, address.port or 80), PATIENCE, (source, 0))
    with contextlib.suppress(ConnectionError):
        line.sendall(sent)
    return line


def received(line: socket.socket) -> bytes:
    """Return all that comes until the server closes a connection."""
    parts = []
    with line, contextlib.suppress(ConnectionResetError):
        while part := line.recv(65536):
            parts.append(part)
    return b"".join(parts)


@pytest.fixture(scope="module")
def hurried(inn: Index) -> Iterator[Running]:
    """A server that waits for a second; less would be too little for good requests on a busy machine."""
    limits = replace(Limits(), head_seconds=1.0, body_seconds=1.0)
    with running([inn], ServeOptions(limits=limits)) as run:
        yield run


@pytest.mark.parametrize("sent", [b"", b"GET", HALF])
def test_slowloris_head_times_out(hurried: Running, sent: bytes) -> None:
    assert received(connected(hurried.url, sent)) == b""


def test_an_idle_connection_is_closed(hurried: Running) -> None:
    whole = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = received(connected(hurried.url, whole))
    assert answer.count(b"HTTP/1.1") == 1 and b"200" in answer.split(b"\r\n")[0]


def test_slow_data_does_not_reset_the_timer(hurried: Running) -> None:
    line = connected(hurried.url, HALF)
    line.settimeout(0.02)
    with line:
        for _ in range(2_000):  # far more time than there is; the server closes long before
            try:
                line.sendall(b"x")
                assert line.recv(1) == b""
            except TimeoutError:
                continue
            except ConnectionError:
                pass
            return
    pytest.fail("the connection stayed open")


@pytest.mark.parametrize(("host", "status"), [(b"localhost", b"408"), (b"evil", b"421")])
def test_slow_body_gets_408_and_is_closed(hurried: Running, host: bytes, status: bytes) -> None:
    """Also where the answer does not wait for the body."""
    head = b"POST /api/v1/reindex HTTP/1.1\r\nHost: %s\r\nContent-Length: 100\r\n\r\n{" % host
    assert status in received(connected(hurried.url, head)).split(b"\r\n")[0]


def test_event_streams_have_no_timeout(hurried: Running) -> None:
    """While others come and go, somebody listens for longer than any limit."""
    with listening(hurried) as events:
        for _ in range(2):
            assert received(connected(hurried.url, HALF)) == b""
        hurried.post("reindex", {}, 202)
        assert any('"phase":"done"' in line for line in events)


@contextlib.contextmanager
def listening(run: Running) -> Iterator[Iterator[str]]:
    """Listen to events; give what is heard."""
    with run.client.stream("GET", "/api/v1/events", timeout=PATIENCE) as stream:
        events = stream.iter_lines()
        assert next(events)
        yield events


def test_requests_beyond_the_limit_of_connections_get_503(inn: Index) -> None:
    limits = replace(Limits(), connections=4)
    with running([inn], ServeOptions(limits=limits)) as run:
        clients = [httpx.Client(base_url=run.url, timeout=PATIENCE) for _ in range(4)]
        assert [each.get("/livez").status_code for each in clients] == [200, 200, 200, 503]
        for each in clients:
            each.close()
        while httpx.get(f"{run.url}/api/v1/health", timeout=PATIENCE).status_code != 200:
            pass


def test_slow_heads_take_no_connection_from_others(inn: Index) -> None:
    """Those that send theirs slowly lose the oldest of their connections, the others none."""
    limits = replace(Limits(), connections=8)
    with (
        running([inn], ServeOptions(limits=limits)) as run,
        contextlib.ExitStack() as held,
        httpx.Client(base_url=run.url, timeout=PATIENCE) as client,
    ):
        for _ in range(40):
            held.enter_context(connected(run.url, HALF))
            assert client.get("/livez").status_code == 200
            assert httpx.get(f"{run.url}/livez", timeout=PATIENCE).status_code == 200
