"""The process around the server: who may ask over HTTP, what the command takes, what is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from dowse.interfaces.cli.main import main
from mcp_clients import PATIENCE, http_server, run, stdio

from helpers import processes_with

PING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"accept": "application/json, text/event-stream"}


def test_over_http_only_this_machine_and_its_own_pages_may_ask(shop: Path) -> None:
    with http_server(shop) as url, httpx.Client(headers=ACCEPT) as client:
        answer = client.post(url, json=PING, headers={"x-request-id": "one"})
        assert answer.status_code == 200 and answer.headers["x-request-id"] == "one"
        for headers, status in (
            ({"host": "evil.example"}, 421),
            ({"origin": "https://evil.example"}, 403),
            ({"origin": "http://["}, 403),
            ({"host": "[127.0.0.1]evil"}, 421),
            ({"sec-fetch-site": "cross-site"}, 403),
            (
                {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
                403,
            ),
        ):
            refused = client.post(url, json=PING, headers=headers)
            assert refused.status_code == status and refused.json()["remedy"], refused.text
            assert refused.json()["request_id"] == refused.headers["x-request-id"]
        assert client.post(url, content=b"x" * 300_000).status_code == 413
        assert client.get(url.replace("/mcp", "/")).status_code == 404


@pytest.mark.parametrize("given", ["pst", ""])
def test_over_http_a_token_is_required(shop: Path, tmp_path: Path, given: str) -> None:
    """The user's own if none is given: other users of the machine reach the port, too."""
    environment = {"DOWSE_TOKEN": given, "DOWSE_DATA_DIR": str(tmp_path / "data")}
    with http_server(shop, environment=environment) as url, httpx.Client(headers=ACCEPT) as client:
        token = given or (tmp_path / "data" / "token").read_text().strip()
        assert client.post(url, json=PING).status_code == 401
        assert client.post(url, json=PING, headers={"authorization": "Bearer pss"}).status_code == 401
        assert client.post(url, json=PING, headers={"authorization": f"Bearer {token}"}).status_code == 200


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "nowhere does not exist"),
        (["--http", "0.0.0.0:0"], "can be reached from other machines"),
        (["--http", "here"], "--http takes PORT or HOST:PORT"),
    ],
)
def test_what_the_command_can_not_do_it_says(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_nothing_is_left_behind(shop: Path, tmp_path: Path) -> None:
    mark = f"DOWSE_CACHE_DIR={tmp_path / 'marked'}"

    async def session() -> None:
        environment = {"DOWSE_CACHE_DIR": str(tmp_path / "marked"), "DOWSE_ISOLATION": "always"}
        async with stdio(shop, cwd=shop, environment=environment) as dowse:
            await dowse.text("search", query="checkout")
            assert len(processes_with(mark)) > 1  # the server, and the process of a lane

    run(session())
    deadline = time.monotonic() + PATIENCE
    while processes_with(mark):
        assert time.monotonic() < deadline, processes_with(mark)


def test_other_commands_load_nothing_of_it() -> None:
    program = (
        "import sys, dowse.interfaces.cli.main as main; main.build_parser(); "
        "print([name for name in sys.modules if name == 'mcp' or name.startswith('dowse.interfaces.mcp')])"
    )
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ
    )
    assert out.stdout.strip() == "[]"
