"""Clients that keep the server waiting: they are dropped, and nobody else waits for them."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from dowse import Index
from dowse.services.web.connections import AcceptErrors, max_connections
from dowse.services.web.options import Limits, ServeOptions
from interfaces.http.conftest import INN
from interfaces.http.running import Running, running

from helpers import write_tree

# Long for a machine that does other things, never waited for in full.
PATIENCE = 240.0
HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: "
# Files that the server may open, and connections that are more than that.
FILES, HELD = {"serve": 1024, "mcp": 256}, {"serve": 1_500, "mcp": 400}
PORT = {"serve": "--port", "mcp": "--http"}


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
    limits = replace(Limits(), head_seconds=1.0, body_seconds=1.0, send_seconds=1.0)
    with running([inn], ServeOptions(limits=limits)) as run:
        yield run


@pytest.mark.parametrize("sent", [b"", b"GET", HALF])
def test_slowloris_head_times_out(hurried: Running, sent: bytes) -> None:
    assert received(connected(hurried.url, sent)) == b""


def test_keep_alive_head_times_out(hurried: Running) -> None:
    whole = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = received(connected(hurried.url, whole + HALF))
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
    head = b"POST /api/reindex HTTP/1.1\r\nHost: %s\r\nContent-Length: 100\r\n\r\n{" % host
    assert status in received(connected(hurried.url, head)).split(b"\r\n")[0]


def test_client_that_does_not_read_is_dropped(hurried: Running) -> None:
    """Answers to many requests fill what the system holds for a client; then the server waits for it."""
    line = connected(hurried.url, b"")
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    request = b"GET /api/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with line, pytest.raises(ConnectionError):
        for _ in range(200_000):
            line.sendall(request)


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
    with run.client.stream("GET", "/api/events", timeout=PATIENCE) as stream:
        events = stream.iter_lines()
        assert next(events)
        yield events


def test_longest_idle_connection_is_dropped_at_the_limit(inn: Index) -> None:
    limits = replace(Limits(), connections=3, head_seconds=1_000.0)
    with running([inn], ServeOptions(limits=limits)) as run, listening(run) as events:
        held = [connected(run.url, HALF) for _ in range(10)]
        assert [received(line) for line in held[:8]] == [b""] * 8
        answer = httpx.get(f"{run.url}/api/health", timeout=PATIENCE)  # one more makes room
        assert answer.status_code == 200 and received(held[8]) == b""
        held[9].close()
        assert httpx.post(f"{run.url}/api/reindex", json={}, timeout=PATIENCE).status_code == 202
        assert any('"phase":"done"' in line for line in events)  # the stream was never in the way


def test_the_address_with_most_idle_connections_loses_one(inn: Index) -> None:
    """A client that idles for longest stays if another one holds more connections."""
    limits = replace(Limits(), connections=4, head_seconds=1_000.0)
    with running([inn], ServeOptions(limits=limits)) as run:
        with httpx.Client(base_url=run.url, timeout=PATIENCE) as quiet:
            assert quiet.get("/api/health").status_code == 200  # and keeps its connection
            held = [connected(run.url, HALF, "127.0.0.2") for _ in range(10)]
            assert [received(line) for line in held[:7]] == [b""] * 7
            transport = quiet._transport._pool.connections[0]  # type: ignore[attr-defined]
            assert quiet.get("/api/health").status_code == 200
            assert quiet._transport._pool.connections == [transport]  # type: ignore[attr-defined]
        for line in held[7:]:
            line.close()


def test_new_connection_is_closed_if_all_are_busy(inn: Index) -> None:
    limits = replace(Limits(), connections=1, head_seconds=1_000.0)
    with running([inn], ServeOptions(limits=limits)) as run, listening(run):
        assert received(connected(run.url, HALF)) == b""


@contextlib.contextmanager
def few_files(command: Sequence[str], files: int, log: Path, **environment: str) -> Iterator[str]:
    """Run a server that may open few files; give its address."""
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "dowse.interfaces.cli.main", *command],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, **environment},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
        )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


@contextlib.contextmanager
def many_files(wanted: int) -> Iterator[None]:
    """Let the test itself open more files than usual."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"a process may open {hard} files here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def asked(address: httpx.URL, command: str) -> httpx.Response:
    """Ask a server something, with the secret."""
    headers = {"Authorization": "Bearer pst", "Accept": "application/json, text/event-stream"}
    if command == "serve":
        return httpx.get(address.join("/api/health"), headers=headers, timeout=PATIENCE)
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
    return httpx.post(address, headers=headers, json=message, timeout=PATIENCE)


@pytest.mark.parametrize("command", ["serve", "mcp"])
def test_slowloris_does_not_starve_other_clients(tmp_path: Path, command: str) -> None:
    root, log = write_tree(tmp_path / "inn", INN), tmp_path / "log"
    cache = {"DOWSE_CACHE_DIR": str(tmp_path / "cache"), "DOWSE_TOKEN": "pst"}
    with (
        many_files(HELD[command] + 500),
        few_files([command, str(root), PORT[command], "0"], FILES[command], log, **cache) as url,
        contextlib.ExitStack() as held,
    ):
        address = httpx.URL(url).copy_with(query=None)
        for number in range(HELD[command]):
            held.enter_context(connected(url, HALF))
            if number % 100 == 99:
                assert asked(address, command).status_code == 200
    assert log.stat().st_size < 2_000, log.read_text()[:2_000]


def test_connections_leave_file_descriptors_for_the_process() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, before[1]), before[1]))
        assert max_connections(512) == 480 and max_connections(100) == 100
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_accept_errors_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    class Loop:
        def default_exception_handler(self, context: dict[str, object]) -> None:
            raise AssertionError(context)

    handler = AcceptErrors()
    for _ in range(100):
        context = {"message": "", "exception": OSError(errno.EMFILE, "too many"), "socket": None}
        handler(Loop(), context)  # type: ignore[arg-type]
    assert len(caplog.records) == 1 and "too many" in caplog.text and "Traceback" not in caplog.text
