"""Run the language server, over standard input and output."""

from __future__ import annotations

import asyncio
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

# The fields that a message may begin with.
_FIELDS = frozenset([b"content-length", b"content-type"])
_MAX_FIELDS = 8
# The largest message: a document that a client opens.
_MAX_BYTES = 64 * 1024 * 1024


class BadMessage(DowseError):
    """Bytes that are no message of the protocol; the connection is closed."""


async def read_message(reader: StdinAsyncReader) -> bytes | None:
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


async def _serve(server: LspServer, reader: StdinAsyncReader) -> None:
    """Handle messages until the end of the connection."""
    protocol = server.protocol
    try:
        while not protocol.is_ended:
            body = await read_message(reader)
            if body is None:
                break
            protocol.receive(body)
            await asyncio.sleep(0)
    except (BadMessage, ConnectionError, ValueError) as error:
        logging.getLogger("dowse.interfaces.lsp").warning("the connection ends: %s", error)
    finally:
        await asyncio.to_thread(server.close)


def _quieten() -> None:
    """Leave out the log of pygls, which quotes messages."""
    logging.getLogger("pygls").setLevel(logging.CRITICAL + 1)
