r"""Repair or answer JSON-RPC messages that the MCP library can't read, so that no client waits forever.

`"\ud800"`, a lone surrogate, is valid JSON that UTF-8 can't encode. The library drops such a line without an
answer. Here the character becomes U+FFFD, and the message is processed; what is no message at all is answered
with a JSON-RPC error.
"""

from __future__ import annotations

import contextvars
import json
import os
import re
from collections.abc import AsyncIterator
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import anyio
from anyio.abc import ObjectReceiveStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

if TYPE_CHECKING:
    from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream

# The error for JSON that is no JSON-RPC message.
INVALID_MESSAGE = (
    INVALID_REQUEST,
    "this is no JSON-RPC message; send jsonrpc, method, params and an id that is text or a whole number",
)
# No valid message: it is answered with an error.
_EMPTY_OBJECT = "{}\n"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# Every escape of a surrogate in JSON begins so.
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


class RepairedMessages(ObjectReceiveStream[SessionMessage | Exception]):
    """A stream of messages in which none is lost; it wraps the library's."""

    def __init__(
        self,
        incoming: ContextReceiveStream[SessionMessage | Exception],
        outgoing: ContextSendStream[SessionMessage],
    ) -> None:
        """Read from one stream; write error responses to the other."""
        self._incoming, self._outgoing = incoming, outgoing

    @property
    def last_context(self) -> contextvars.Context | None:
        """The context in which the last message was sent."""
        return self._incoming.last_context

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        while True:
            message = await self._repair(await self._incoming.receive())
            if message is not None:
                return message

    async def aclose(self) -> None:
        """Close the stream behind this one."""
        await self._incoming.aclose()

    async def _repair(self, item: SessionMessage | Exception) -> SessionMessage | Exception | None:
        """Return a valid message; None for one that is answered with an error."""
        if not isinstance(item, ValidationError):
            return item
        line = _invalid_line(item)
        if line is not None and not line.strip():
            return None
        try:
            # The library's error has the line only if it is no valid JSON.
            data = replace_surrogates_in_json(json.loads(line)) if line is not None else None
        except (ValueError, RecursionError):
            await self._send_error(None, PARSE_ERROR, "this is no JSON; send one JSON-RPC message a line")
            return None
        if data is not None:
            try:
                return SessionMessage(jsonrpc_message_adapter.validate_python(data, by_name=False))
            except ValidationError as error:
                item = error
        await self._send_error(_request_id(item), *INVALID_MESSAGE)
        return None

    async def _send_error(self, request_id: str | int | None, code: int, message: str) -> None:
        await self._outgoing.send(SessionMessage(error_response(request_id, code, message)))


def error_response(request_id: str | int | None, code: int, message: str) -> JSONRPCError:
    """Return a JSON-RPC error; the id is None if that of the request is unknown."""
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message))


def has_invalid_id(message: str | bytes) -> bool:
    """Whether a message is a request whose id is neither a string nor an integer (null, 1.5, [1], NaN …).

    The protocol allows no others, and the library takes such a request for a notification, which gets no
    answer. Invalid JSON is reported by the library.
    """
    try:
        data = json.loads(message)
    except (ValueError, RecursionError):
        return False
    if not isinstance(data, dict) or "id" not in data or "method" not in data:
        return False
    return isinstance(data["id"], bool) or not isinstance(data["id"], str | int)


def repair_body(body: bytes) -> bytes:
    """Return the body of an HTTP request without lone surrogates; invalid JSON is not changed."""
    if not _SURROGATE_ESCAPE.search(body):
        return body
    try:
        return json.dumps(replace_surrogates_in_json(json.loads(body)), ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return body


def replace_surrogates_in_json(data: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return JSON data with U+FFFD for every lone surrogate, in keys and values."""
    if isinstance(data, str):
        return data if data.isascii() else _LONE_SURROGATE.sub("\ufffd", data)
    if isinstance(data, dict):
        return {
            replace_surrogates_in_json(name): replace_surrogates_in_json(value)
            for name, value in data.items()
        }
    return [replace_surrogates_in_json(each) for each in data] if isinstance(data, list) else data


def _invalid_line(error: ValidationError) -> str | None:
    """Return the line that is no valid JSON; None if it is JSON, but no message."""
    first = error.errors(include_url=False, include_context=False)[0]
    if first["type"] != "json_invalid":
        return None
    return str(first["input"])


def _request_id(error: ValidationError) -> str | int | None:
    """Return the id of an invalid request; None if it has no valid one."""
    for each in error.errors(include_url=False, include_context=False):
        known = each["input"].get("id") if isinstance(each["input"], dict) else None
        if isinstance(known, str | int) and not isinstance(known, bool):
            return known
    return None


def checked_stdin() -> anyio.AsyncFile[str]:
    """Return standard input for the library, which only iterates over its lines."""
    return cast("anyio.AsyncFile[str]", _CheckedLines(_claim_stdin()))


class _CheckedLines:
    """Lines; requests that would be taken for notifications, and never answered, become invalid messages."""

    def __init__(self, source: BinaryIO) -> None:
        self._lines = anyio.wrap_file(TextIOWrapper(source, encoding="utf-8", errors="replace"))

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._lines:
            yield _EMPTY_OBJECT if has_invalid_id(line) else line


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
