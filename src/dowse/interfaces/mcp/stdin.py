"""The lines that a client sends on standard input, as the protocol's library should see them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from io import TextIOWrapper
from typing import BinaryIO, cast

import anyio

from dowse.interfaces.mcp.messages import has_wrong_id

# Read as no message at all: it is answered with an error.
_NO_MESSAGE = "{}\n"


def checked_lines() -> anyio.AsyncFile[str]:
    """Return standard input for the library, which only goes through its lines."""
    return cast("anyio.AsyncFile[str]", _Checked(_claimed()))


class _Checked:
    """Lines, in which requests that would be taken for notifications, and never answered, are no messages."""

    def __init__(self, source: BinaryIO) -> None:
        self._lines = anyio.wrap_file(TextIOWrapper(source, encoding="utf-8", errors="replace"))

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._lines:
            yield _NO_MESSAGE if has_wrong_id(line) else line


def _claimed() -> BinaryIO:
    """Return standard input, and give everything else in this process an empty one, as the library does.

    Processes that are started meanwhile must not read what the client sends.
    """
    private = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    # A thread may still read from it when the server has ended, so it is never closed.
    return os.fdopen(private, "rb", closefd=False)
