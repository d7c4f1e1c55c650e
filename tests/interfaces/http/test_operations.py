"""`dowse serve` as a service: signals, probes, request ids and logs."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import signal
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from dowse import Index
from dowse.services.web.logs import configure_logs
from dowse.services.web.options import ServeOptions
from dowse.services.web.request_id import current_request
from interfaces.http.conftest import INN
from interfaces.http.running import Running, running
from interfaces.http.test_command import serving

from helpers import index_tree, write_tree

MADE = re.compile(r"[0-9a-f]{16}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00")


@pytest.fixture
def root_logger() -> Iterator[None]:
    """Put the loggers back as they were."""
    root, requests = logging.getLogger(), logging.getLogger("dowse.request")
    before = root.handlers[:], root.level, requests.level
    yield
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    requests.setLevel(before[2])


def test_sigterm_ends_with_0_after_the_requests_that_have_begun(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "inn", INN)
    with serving(root, DOWSE_CACHE_DIR=str(tmp_path / "cache")) as (process, url):
        with half_sent(httpx.URL(url)) as line:
            process.send_signal(signal.SIGTERM)
            wait_until_refused(httpx.URL(url))
            line.sendall(b"{}")
            assert b" 202 " in line.recv(1000).split(b"\r\n")[0]
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 0 and not errors


@pytest.mark.large
def test_a_second_ctrl_c_waits_for_no_request(tmp_path: Path) -> None:
    root, cache = write_tree(tmp_path / "inn", INN), str(tmp_path / "cache")
    with serving(root, DOWSE_CACHE_DIR=cache) as (process, url), half_sent(httpx.URL(url)) as line:
        process.send_signal(signal.SIGINT)
        wait_until_refused(httpx.URL(url))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        with contextlib.suppress(ConnectionResetError):
            assert b" 408 " not in line.recv(1000)  # as it would be when the body is late


@contextlib.contextmanager
def half_sent(url: httpx.URL) -> Iterator[socket.socket]:
    """Send a request without its body, which the server waits for."""
    head = b"POST /api/v1/reindex HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket.create_connection((url.host, url.port), timeout=30) as line:
        line.sendall(head + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        assert line.recv(100).startswith(b"HTTP/1.1 100")
        yield line


def wait_until_refused(url: httpx.URL) -> None:
    """Connect until nobody listens any more."""
    with contextlib.suppress(ConnectionRefusedError, ConnectionResetError):
        while True:
            socket.create_connection((url.host, url.port), timeout=30).close()


def test_alive_before_ready(tmp_path: Path) -> None:
    """Liveness says nothing about indexes; readiness waits for them, and neither needs the token."""
    index = Index.open(write_tree(tmp_path / "inn", INN), index_dir=str(tmp_path / "index"), encoder="none")
    with running([index], ServeOptions(token="pst")) as run:
        run.state.engine.close()  # whatever it has built by now is removed
        index.backend.clear()
        for address in ("/livez", "/healthz"):
            assert run.client.get(address).json() == {"status": "ok"}
        answer = run.client.get("/readyz")
        assert answer.status_code == 503 and answer.json()["status"] == "starting"
        index.update()
        answer = run.client.get("/readyz")
        assert answer.status_code == 200
        ready = {"ready": True, "generation": index.status()["generation"], "lanes": {}}
        assert answer.json() == {"status": "ready", "indexes": [ready]}
        assert "inn" not in answer.text  # no names without the token
        assert run.client.get("/api/v1/health").status_code == 401


def test_ready_once_lanes_have_started(tmp_path: Path) -> None:
    index = index_tree(tmp_path / "inn", INN, encoder="small", isolation="always", refresh="never")
    with running([index]) as run:
        seen = []
        while not seen or seen[-1][0] == 503:
            answer = run.client.get("/readyz")
            seen.append((answer.status_code, answer.json()["indexes"][0]["lanes"]))
        assert set(seen[-1][1].values()) == {"up"} and {"keyword", "embedding"} <= set(seen[-1][1])


def test_request_ids(server: Running) -> None:
    get = server.client.get
    assert get("/api/v1/health", headers={"X-Request-ID": "a-1.b_2"}).headers["x-request-id"] == "a-1.b_2"
    made = {get("/api/v1/health").headers["x-request-id"] for _ in range(3)}
    assert len(made) == 3 and all(map(MADE.fullmatch, made))
    for bad in ("", "a b", "x" * 65, 'a"b', "ä".encode()):
        assert MADE.fullmatch(get("/", headers={"X-Request-ID": bad}).headers["x-request-id"])
    for path, headers in (
        ("/api/v1/symbol?target=nowhere", {}),
        ("/api/v1/none", {}),
        ("/", {"Host": "evil"}),
    ):
        problem = get(path, headers={"X-Request-ID": "mine", **headers})
        assert problem.json()["request_id"] == problem.headers["x-request-id"] == "mine"


def test_json_log_of_requests(tmp_path: Path) -> None:
    """Neither queries nor tokens are in it, nor is a token from a file printed."""
    (tmp_path / "token").write_text("pst\n")
    flags = "--log-format", "json", "--token-file", tmp_path / "token"
    root = write_tree(tmp_path / "inn", INN)
    folders = {"DOWSE_CACHE_DIR": str(tmp_path / "cache")}
    with serving(root, *flags, with_token=True, **folders) as (process, url):
        assert "pst" not in url and httpx.get(f"{url}api/v1/health", timeout=60).status_code == 401
        with httpx.Client(base_url=url, headers={"Authorization": "Bearer pst"}, timeout=60) as client:
            with client.stream("GET", "/api/v1/events") as stream:
                assert any('"phase":"done"' in line for line in stream.iter_lines())
            found = client.get(
                "/api/v1/search", params={"q": "sweep bucket"}, headers={"X-Request-ID": "one"}
            )
            assert found.status_code == 200
            client.get("/?token=pst")
            client.get("/api/v1/%0d%0aforged%1b[31m")
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=30)
    lines = [json.loads(line) for line in log.splitlines()]
    search = next(line for line in lines if line.get("request_id") == "one")
    assert TIME.fullmatch(search.pop("time")) and search.pop("ms") > 0
    generations = search.pop("generation")
    assert set(generations) == {"inn"} and generations["inn"] >= 1
    assert search == {
        "level": "info",
        "logger": "dowse.request",
        "message": "request",
        "request_id": "one",
        "client": "127.0.0.1",
        "method": "GET",
        "path": "/api/v1/search",
        "status": 200,
    }
    assert log.isascii() and "bucket" not in log and "pst" not in log
    assert [line["path"] for line in lines][-2:] == ["/", "/api/v1/\\x0d\\x0aforged\\x1b[31m"]


@pytest.mark.usefixtures("root_logger")
def test_text_log_with_queries(inn: Index, tmp_path: Path) -> None:
    with (tmp_path / "log").open("w+") as stream:
        with running([inn], ServeOptions(log_queries=True)) as run:
            configure_logs("text", requests=True, stream=stream)
            run.get("suggest", q="sweep", token="pst")
        stream.seek(0)  # after the server has ended: lines are written once a response is sent
        (line,) = stream.read().splitlines()
    assert " info dowse.request request request_id=" in line and " path=/api/v1/suggest query=q=sweep" in line
    assert line.partition(" status=")[2].startswith("200 ms=")
    assert "pst" not in line


@pytest.mark.usefixtures("root_logger")
def test_logs_are_bounded(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w+") as stream:
        configure_logs("json", stream=stream)
        for number in range(50):
            try:
                raise ValueError("x" * 100_000)
            except ValueError:
                logging.getLogger("dowse.test").exception("%s %d", "y" * 100_000, number)
        stream.seek(0)
        lines = [json.loads(line) for line in stream]
        written = stream.tell()
    assert len(lines) == 50 and written < len(lines) * 12_000
    assert all(len(line["message"]) <= 1_000 and len(line["traceback"]) <= 8_000 for line in lines)


def test_lane_problems_are_logged_with_the_request(tmp_path: Path) -> None:
    seen = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            facts = current_request()
            seen.append((facts.id if facts else None, record.getMessage()))

    handler = Handler()
    logging.getLogger("dowse.search.lanes").addHandler(handler)
    index = index_tree(tmp_path / "inn", INN, encoder="none", isolation="always")
    index = Index(index.root, replace(index.settings, lane_seconds=1e-9), index.backend)
    try:
        with running([index]) as run:
            run.client.get("/api/v1/search?q=sweep", headers={"X-Request-ID": "slow"})
    finally:
        logging.getLogger("dowse.search.lanes").removeHandler(handler)
    assert any(who == "slow" and "keyword" in message for who, message in seen), seen
