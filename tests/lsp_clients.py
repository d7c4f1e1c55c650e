"""A client of the language server that speaks the protocol itself: nothing of pygls helps it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

# Longer than anything takes on a busy machine; a test that waits this long has failed.
PATIENCE = 240.0
COMMAND = [sys.executable, "-m", "dowse.interfaces.cli.main", "lsp"]
CAPABILITIES: dict[str, Any] = {
    "window": {"workDoneProgress": True},
    "workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}},
}


SHOP = {
    "shop/cart.py": '''"""A cart."""

from shop.prices import lookup


class Basket:
    """Something that holds items."""

    def total(self) -> float:
        """Sum up."""
        return 0.0


class Cart(Basket):
    """What somebody wants to buy."""

    def total(self) -> float:
        """Sum up what everything costs, see total in the `Basket`."""
        größe = "😋"; return lookup(größe)


def checkout(cart: Cart) -> float:
    """Pay for a cart."""
    return cart.total() + lookup("fee")
''',
    "shop/prices.py": '''def lookup(item: str) -> float:
    """Find out what an item costs: ![](https://evil.example/x.png) ```."""
    return 1.0
''',
    "web/page.ts": "export function renderPage(): string { return title() }\n"
    "function title(): string { return '' }\n",
}
BANK = {
    "bank/account.go": "package bank\n\n// Deposit adds money to an account.\n"
    "func Deposit(amount int) int { return amount }\n"
}
ALL = dict.fromkeys(
    (
        *("workspaceSymbol", "callHierarchy", "typeHierarchy", "definition", "references"),
        *("hover", "documentSymbol", "codeLens"),
    ),
    True,
)


class LspError(Exception):
    """The error of a response."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(error["message"])
        self.code = error["code"]


class Client:
    """One connection; responses are matched by id, requests of the server are answered with null."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._number = 0
        self._waiting: dict[object, asyncio.Future[Any]] = {}
        self.received: list[dict[str, Any]] = []  # notifications and requests of the server
        self.unmatched: list[dict[str, Any]] = []  # responses to no request
        self._arrived = asyncio.Event()
        self._task = asyncio.create_task(self._read())

    async def initialize(
        self,
        folders: Sequence[Path],
        options: Mapping[str, Any] | None = None,
        capabilities: Mapping[str, Any] = CAPABILITIES,
    ) -> dict[str, Any]:
        """Open folders; return the server's capabilities."""
        answer = await self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": None,
                "capabilities": capabilities,
                "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name} for folder in folders],
                "initializationOptions": options,
            },
        )
        self.notify("initialized", {})
        return dict(answer["capabilities"])

    async def request(self, method: str, params: object = None) -> Any:
        """Send a request and return its result."""
        return await self.result(self.send(method, params))

    def send(self, method: str, params: object = None) -> int:
        """Send a request and return its id."""
        self._number += 1
        self._waiting[self._number] = asyncio.get_running_loop().create_future()
        self.write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    async def result(self, number: int) -> Any:
        """Return the result of a request that was sent."""
        return await asyncio.wait_for(self._waiting[number], PATIENCE)

    def notify(self, method: str, params: object = None) -> None:
        """Send a notification."""
        self.write({"jsonrpc": "2.0", "method": method, "params": params})

    def write(self, message: object) -> None:
        """Send any message."""
        self.write_bytes(message if isinstance(message, bytes) else json.dumps(message).encode())

    def write_bytes(self, body: bytes) -> None:
        """Send a body with its length."""
        self._writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def wait_for(self, method: str, **fields: object) -> dict[str, Any]:
        """Return the parameters of a message of the server, once it has arrived."""

        async def look() -> dict[str, Any]:
            while True:
                for message in self.received:
                    params = message.get("params") or {}
                    value = params.get("value") or params if isinstance(params, dict) else {}
                    if message["method"] == method and fields.items() <= value.items():
                        return dict(params)
                self._arrived.clear()
                await self._arrived.wait()

        return await asyncio.wait_for(look(), PATIENCE)

    async def wait_for_response(self) -> dict[str, Any]:
        """Return a response that belongs to no request."""
        while not self.unmatched:
            self._arrived.clear()
            await asyncio.wait_for(self._arrived.wait(), PATIENCE)
        return self.unmatched.pop(0)

    async def close(self) -> None:
        """Say goodbye."""
        await self.request("shutdown")
        self.notify("exit")
        await self.ended()

    async def ended(self) -> None:
        """Return when the server has closed the connection."""
        await asyncio.wait_for(self._task, PATIENCE)
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()

    async def _read(self) -> None:
        while (body := await self._body()) is not None:
            message = json.loads(body)
            if "method" in message:
                self.received.append(message)
                if "id" in message:
                    self.write({"jsonrpc": "2.0", "id": message["id"], "result": None})
            elif message.get("id") in self._waiting:
                future = self._waiting[message["id"]]
                if "error" in message:
                    future.set_exception(LspError(message["error"]))
                else:
                    future.set_result(message["result"])
            else:
                self.unmatched.append(message)
            self._arrived.set()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(ConnectionError("the server has closed the connection"))
                future.exception()  # nobody may be waiting for it

    async def _body(self) -> bytes | None:
        length = 0
        try:
            while line := (await self._reader.readline()).strip():
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            return await self._reader.readexactly(length) if length else None
        except (asyncio.IncompleteReadError, ConnectionError):
            return None


@contextlib.asynccontextmanager
async def stdio(*arguments: str, **environment: str) -> AsyncIterator[Client]:
    """Start a server and talk to it over its standard input and output; it ends cleanly."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, **environment},
        limit=1 << 20,
    )
    assert process.stdin is not None and process.stdout is not None
    client = Client(process.stdout, process.stdin)
    try:
        yield client
        await client.close()
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
