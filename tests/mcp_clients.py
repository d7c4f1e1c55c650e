"""Sessions with a real `dowse mcp`, by the official client, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from dowse.interfaces.mcp.options import McpOptions
from dowse.interfaces.mcp.server import McpServer

COMMAND = [sys.executable, "-W", "error", "-m", "dowse.interfaces.cli.main", "mcp"]
# Long for a machine that does other things, never waited for in full.
PATIENCE = 240.0


@dataclass
class Session:
    """A client, and what it was told on the way."""

    client: Client
    progress: list[tuple[float, float | None, str | None]] = field(default_factory=list)
    heard: asyncio.Event = field(default_factory=asyncio.Event)  # that progress was told

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """Call a tool."""
        return await self.client.call_tool(tool, arguments, progress_callback=self._heard)

    async def text(self, tool: str, **arguments: Any) -> str:
        """Call a tool that answers; return the text."""
        result = await self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        return text_of(result)

    async def error(self, tool: str, **arguments: Any) -> str:
        """Call a tool that can't answer; return what it says instead."""
        result = await self.call(tool, **arguments)
        assert result.is_error, text_of(result)
        assert "Traceback" not in text_of(result)
        return text_of(result)

    async def until(self, holds: Callable[[str], bool], tool: str, **arguments: Any) -> str:
        """Call a tool again and again until its text is as wanted."""
        deadline = time.monotonic() + PATIENCE
        while True:
            text = text_of(await self.call(tool, **arguments))
            if holds(text):
                return text
            assert time.monotonic() < deadline, text
            await asyncio.sleep(0.05)  # let the server do something else, too

    async def _heard(self, progress: float, total: float | None, message: str | None) -> None:
        self.progress.append((progress, total, message))
        self.heard.set()


def text_of(result: CallToolResult) -> str:
    """Return the one text of an answer."""
    assert len(result.content) == 1
    return str(result.content[0].text)


def as_json(data: object) -> str:
    """Write data as clients write it for their models."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


@contextlib.asynccontextmanager
async def stdio(
    *arguments: str | Path,
    cwd: Path,
    mode: str = "auto",
    environment: dict[str, str] | None = None,
    **more: Any,
) -> AsyncIterator[Session]:
    """Start `dowse mcp` as clients do, and talk to it."""
    server = StdioServerParameters(
        command=COMMAND[0],
        args=[*COMMAND[1:], *map(str, arguments)],
        env={**os.environ, **(environment or {})},
        cwd=cwd,
    )
    async with Client(server, mode=mode, **more) as client:
        yield Session(client)


@contextlib.contextmanager
def http_server(*arguments: str | Path, environment: dict[str, str] | None = None) -> Iterator[str]:
    """Start `dowse mcp --http` on a free port, without a token unless one is given; give its address."""
    flags = [] if environment else ["--no-token"]
    command = [*COMMAND, *map(str, arguments), "--http", "0", *flags]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})}
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("dowse answers MCP at http://127.0.0.1:"), line
        yield line.split()[-1]
    finally:
        process.terminate()
        assert process.wait(PATIENCE) in (0, -15)
        assert process.stdout is not None
        process.stdout.close()


@contextlib.asynccontextmanager
async def http(*arguments: str | Path, mode: str = "auto", **more: Any) -> AsyncIterator[Session]:
    """Start `dowse mcp --http`, and talk to it."""
    with http_server(*arguments) as url:
        async with Client(url, mode=mode, **more) as client:
            yield Session(client)


@contextlib.asynccontextmanager
async def inside(*paths: Path, mode: str = "auto", **more: Any) -> AsyncIterator[tuple[Session, McpServer]]:
    """Talk to a server in this process."""
    server = McpServer(McpOptions(paths=paths))
    async with Client(server.protocol, mode=mode, **more) as client:
        yield Session(client), server


def run(session: Coroutine[Any, Any, None]) -> None:
    """Run a session to its end; in a thread, for the browser of another test may hold this one's loop."""

    async def limited() -> None:
        await asyncio.wait_for(session, 2 * PATIENCE)

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, limited()).result()
