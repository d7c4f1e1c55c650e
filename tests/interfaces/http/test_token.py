"""`dowse serve` as a process asks for a token by default: another user of the machine gets nothing."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from dowse.services.web.token import own_token
from interfaces.http.conftest import INN
from interfaces.http.test_command import serving

from helpers import write_tree

# Prints the head of an answer to a user.
ASK = """import encodings.idna, os, socket, sys
port, query, user = sys.argv[1:]
os.getuid() == int(user) or os.setuid(int(user))
with socket.create_connection(("127.0.0.1", int(port))) as line:
    line.sendall(f"GET /?{query} HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n".encode())
    print(b"".join(iter(lambda: line.recv(65536), b"")).decode().partition("\\r\\n\\r\\n")[0])"""
NOBODY = 65_534


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository, and folders of its own for what the server keeps."""
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("DOWSE_DATA_DIR", str(tmp_path / "data"))
    return write_tree(tmp_path / "inn", INN)


def token_of(url: str) -> str:
    """Return the token in an address that was printed."""
    return parse_qs(urlsplit(url).query)["token"][0]


def test_other_users_of_the_machine_can_neither_read_nor_delete(root: Path, tmp_path: Path) -> None:
    with serving(root, with_token=True) as (_, url):
        with httpx.Client(base_url=url.partition("?")[0], timeout=60) as stranger:
            for path in ("status", "search?q=sweep", "symbol?target=sweep", "feedback", "health"):
                answer = stranger.get(f"/api/v1/{path}")
                assert answer.status_code == 401 and "sweep" not in answer.text
            assert stranger.get("/metrics").status_code == 401
            assert stranger.delete("/api/v1/feedback").status_code == 401
            assert stranger.post("/api/v1/reindex", json={}).status_code == 401
            assert stranger.get("/?token=guess").headers.get("set-cookie") is None
            probe = stranger.get("/livez")  # open, and says nothing else
            assert probe.status_code == 200 and probe.json() == {"status": "ok"}
            assert "sweep" not in stranger.get("/readyz").text
        assert token_of(url) == (tmp_path / "data" / "token").read_text().strip()
        bearer = {"Authorization": f"Bearer {token_of(url)}"}
        with httpx.Client(base_url=url.partition("?")[0], headers=bearer, timeout=60) as client:
            assert client.get("/api/v1/health").status_code == 200
            assert client.delete("/api/v1/feedback").status_code == 200


def test_the_token_is_made_once_and_only_its_owner_reads_it(root: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as starting:
        [first] = {each.result() for each in [starting.submit(own_token) for _ in range(4)]}
    file = tmp_path / "data" / "token"
    assert file.read_text().strip() == first == own_token() and len(first) > 40
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    file.unlink()  # withdrawn
    assert own_token() != first


def test_where_nothing_can_be_kept_the_token_is_for_one_run(root: Path, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    assert len(own_token()) > 40 and own_token() != own_token()


def test_a_server_without_a_token_says_what_that_means(root: Path) -> None:
    with serving(root) as (process, url):
        assert process.stdout is not None
        assert "every user and program of this machine" in process.stdout.readline()
        assert httpx.get(f"{url}api/v1/health", timeout=60).status_code == 200
    assert "token" not in url


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="owners of connections are listed in /proc")
def test_the_opened_address_is_of_no_use_to_others(root: Path, tmp_path: Path) -> None:
    """All users see the command line of the browser that is started."""
    opened = tmp_path / "opened"
    os.mkfifo(opened)
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}\n')
    browser.chmod(0o755)
    with serving(root, "--open", with_token=True, BROWSER=f"{browser} %s") as (_, url):
        address = opened.read_text()
        assert token_of(address) != token_of(url)
        own = answer_to(os.getuid(), address)
        assert " 303 " in own and "set-cookie: dowse_" in own and "max-age=2592000" in own
        if os.getuid() == 0:  # who may become somebody else
            other = answer_to(NOBODY, address)
            assert " 303 " in other and "set-cookie" not in other


def answer_to(user: int, address: str) -> str:
    """Return the head of the answer that a user of the machine gets."""
    parts = urlsplit(address)
    command = [sys.executable, "-c", ASK, str(parts.port), parts.query, str(user)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.lower()
