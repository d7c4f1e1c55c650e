"""Standard input as the MCP library should see it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from io import TextIOWrapper
from typing import BinaryIO, cast

import anyio

from dowse.interfaces.mcp.messages import has_invalid_id

# No valid message: it is answered with an error.
_INVALID_MESSAGE = "{}\n"


def checked_stdin() -> anyio.AsyncFile[str]:
    """Return standard input for the library, which only iterates over its lines."""
    return cast("anyio.AsyncFile[str]", _CheckedLines(_claim_stdin()))


class _CheckedLines:
    """Lines; requests that would be taken for notifications, and never answered, become invalid messages."""

    def __init__(self, source: BinaryIO) -> None:
        self._lines = anyio.wrap_file(TextIOWrapper(source, encoding="utf-8", errors="replace"))

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._lines:
            yield _INVALID_MESSAGE if has_invalid_id(line) else line


def _claim_stdin() -> BinaryIO:
    """Return standard input, and redirect that of the process to an empty file, as the library does.

    Child processes must not read what the client sends.
    """
    private = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    # A thread may still read from it when the server has stopped, so it is never closed.
    return os.fdopen(private, "rb", closefd=False)
