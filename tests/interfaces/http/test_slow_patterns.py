"""A pattern that would take minutes: its request ends in time, the server answers others, and ends."""

from __future__ import annotations

import random
import signal
import socket
import time
from pathlib import Path

import httpx

from interfaces.http.test_command import serving

from helpers import write_tree

SLOW = "/" + "|".join(f"a[ab]{{{count}}}c" for count in range(900, 989)) + "/"
LINE = "".join(random.Random(1).choices("ab", k=900_000))


def test_a_slow_pattern_holds_up_neither_others_nor_the_end(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "tree", {"long.txt": LINE, "a.py": "def sweep():\n    pass\n"})
    folders = {"DOWSE_CACHE_DIR": str(tmp_path / "cache"), "DOWSE_ENCODER": "none"}
    with serving(root, **folders) as (process, text_url):
        url = httpx.URL(text_url)
        with httpx.stream("GET", f"{url}api/v1/events", timeout=300) as stream:
            assert any('"phase":"done"' in line for line in stream.iter_lines())
        asked = httpx.Request("GET", f"{url}api/v1/search", params={"q": SLOW}).url.raw_path
        head = b"GET " + asked + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for _ in range(8):  # twice as many as there are threads for patterns; all clients leave
            abandon(url, head)
        started = time.monotonic()
        found = httpx.get(f"{url}api/v1/search", params={"q": "/def sweep/"}, timeout=60)
        assert found.status_code == 200 and found.json()["hits"][0]["name"] == "sweep"
        assert time.monotonic() - started < 5.0
        abandon(url, head)
        started = time.monotonic()
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0 and not errors
        assert time.monotonic() - started < 5.0


def abandon(url: httpx.URL, request: bytes) -> None:
    """Send a request, and leave."""
    with socket.create_connection((url.host, url.port), timeout=30) as line:
        line.sendall(request)
