"""What is written starts: the command of an entry, as a client runs it, answers as an MCP server."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from dowse.interfaces.cli.main import main

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def words(home: Path, client: str) -> list[str]:
    """Return the command of an entry, word by word."""
    if client == "codex":
        entry = tomllib.loads((home / ".codex/config.toml").read_text())["mcp_servers"]["dowse"]
        return [entry["command"], *entry["args"]]
    return json.loads((home / ".config/opencode/opencode.json").read_text())["mcp"]["dowse"]["command"]


@pytest.mark.parametrize("client", ["codex", "opencode"])
def test_an_entry_starts_a_server(home: Path, sample: Path, client: str) -> None:
    """With next to nothing in the environment, as a program with windows starts it."""
    assert main(["install", client, "--path", str(sample)]) == 0
    around = {
        name: value for name, value in os.environ.items() if name.startswith(("HOME", "DOWSE_", "XDG_"))
    }
    process = subprocess.Popen(
        words(home, client),
        cwd="/",
        env={**around, "PATH": "/usr/bin:/bin"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    said, told = process.communicate(json.dumps(HELLO).encode() + b"\n", timeout=300)
    assert said, told.decode()
    answer = json.loads(said.splitlines()[0])
    assert answer["id"] == 1 and answer["result"]["serverInfo"]["name"] == "dowse"
