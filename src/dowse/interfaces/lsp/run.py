"""Run the language server, over standard input and output or over TCP."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import NoReturn

from pygls.io_ import StdinAsyncReader, StdoutWriter

from dowse.errors import DowseError
from dowse.interfaces.lsp.options import LspOptions
from dowse.interfaces.lsp.server import LspServer
from dowse.process_memory import prepare_for_long_life
from dowse.services.web.options import is_loopback
from dowse.services.web.server import listen

_Reader = asyncio.StreamReader | StdinAsyncReader
# The fields that a message may begin with. A web page can make a browser send HTTP to any port: its first
# line is none of these (cross-protocol attack).
_FIELDS = frozenset([b"content-length", b"content-type"])
_MAX_FIELDS = 8
# The largest message: a document that a client opens.
_MAX_BYTES = 64 * 1024 * 1024
# Over TCP: clients at once, and how long one may take to begin.
_MAX_CLIENTS, _FIRST_SECONDS = 16, 30.0


class BadMessage(DowseError):
    """Bytes that are no message of the protocol; the connection is closed."""


async def read_message(reader: _Reader) -> bytes | None:
    """Return the body of the next message; None at the end of the stream."""
    length = 0
    for _ in range(_MAX_FIELDS):
        line = await reader.readline()
        if not line:
            return None
        if not line.strip():
            if length:
                break
            raise BadMessage("a message has no length")
        name, _, value = line.partition(b":")
        if name.strip().lower() not in _FIELDS:
            raise BadMessage("a message begins with an unknown field")
        if name.strip().lower() == b"content-length":
            length = int(value) if value.strip().isdigit() else 0
    if not 0 < length <= _MAX_BYTES:
        raise BadMessage("a message is too long")
    body = await reader.readexactly(length)
    return body if len(body) == length else None


def run_stdio(options: LspOptions) -> NoReturn:
    """Answer the client that started this process, until it closes the connection; then end the process."""
    prepare_for_long_life()
    _quieten()
    output, sys.stdout = sys.stdout.buffer, sys.stderr  # nothing else may write there
    server = LspServer(options)
    server.protocol.set_writer(StdoutWriter(output))
    try:
        asyncio.run(_serve(server, StdinAsyncReader(sys.stdin.buffer, ThreadPoolExecutor(1))))
    except KeyboardInterrupt:
        os._exit(130)  # a thread still waits for input
    # A thread can't be stopped, and nobody waits for its result; an interpreter that ends while one runs
    # native code may abort.
    os._exit(server.protocol.exit_code)


def run_tcp(options: LspOptions, host: str, port: int) -> None:
    """Answer clients over TCP until Ctrl-C; each connection is a session of its own."""
    prepare_for_long_life()
    _quieten()
    if not options.token and not is_loopback(host):
        raise DowseError(
            f"{host} can be reached from other machines; set a secret with DOWSE_TOKEN, or use 127.0.0.1"
        )
    listening = listen(host, port)
    clients = 0

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal clients
        if clients >= _MAX_CLIENTS:
            writer.close()
            return
        clients += 1
        server = LspServer(options)
        server.protocol.set_writer(writer)
        try:
            await _serve(server, reader, writer)
        finally:
            clients -= 1
            writer.close()

    async def serve() -> None:
        name = f"[{host.strip('[]')}]" if ":" in host else host
        async with await asyncio.start_server(connect, sock=listening) as server:
            sys.stdout.write(f"dowse answers LSP at {name}:{listening.getsockname()[1]}\n")
            sys.stdout.flush()
            await server.serve_forever()

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve())


async def _serve(server: LspServer, reader: _Reader, writer: asyncio.StreamWriter | None = None) -> None:
    """Handle messages until the end of the connection."""
    protocol = server.protocol
    try:
        while not (protocol.is_ended or protocol.is_refused):
            limit = _FIRST_SECONDS if writer is not None and not protocol.is_initialized else None
            body = await asyncio.wait_for(read_message(reader), limit)
            if body is None:
                break
            protocol.receive(body)
            if writer is not None:
                await writer.drain()  # backpressure: a client that does not read is not read from
            await asyncio.sleep(0)
    except (BadMessage, TimeoutError, ConnectionError, asyncio.IncompleteReadError, ValueError) as error:
        logging.getLogger("dowse.interfaces.lsp").warning("the connection ends: %s", error)
    finally:
        await asyncio.to_thread(server.close)


def _quieten() -> None:
    """Leave out the log of pygls, which quotes messages."""
    logging.getLogger("pygls").setLevel(logging.CRITICAL + 1)
