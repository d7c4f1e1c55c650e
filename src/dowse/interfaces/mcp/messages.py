r"""Messages that the protocol's library can't read are repaired or answered: silence is never the answer.

`"\ud800"`, half of a surrogate pair, is JSON that no UTF-8 text can hold. The library drops such a line, and
its sender waits for ever. Here the broken character becomes U+FFFD, and the message goes on; what is no
message at all is answered with the error that JSON-RPC has for it.
"""

from __future__ import annotations

import contextvars
import json
import re
from types import TracebackType
from typing import Any, Protocol, Self

from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

# What is said to a message that is JSON, but no message.
WRONG_MESSAGE = (
    INVALID_REQUEST,
    "this is no JSON-RPC message; send jsonrpc, method, params and an id that is text or a whole number",
)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# Every way in which JSON can spell a surrogate begins so.
_SPELLED = re.compile(rb"\\u[dD][89a-fA-F]")


class _Incoming(Protocol):
    """What the library gives: messages, and errors where it could not read one."""

    last_context: contextvars.Context | None

    async def receive(self) -> SessionMessage | Exception: ...

    async def aclose(self) -> None: ...

    async def __anext__(self) -> SessionMessage | Exception: ...


class _Outgoing(Protocol):
    async def send(self, item: SessionMessage, /) -> None: ...


class RepairedMessages:
    """A stream of messages in which none is lost: in place of the one that the library gives."""

    def __init__(self, incoming: _Incoming, outgoing: _Outgoing) -> None:
        """Read from one stream; errors are answered on the other."""
        self._incoming, self._outgoing = incoming, outgoing

    @property
    def last_context(self) -> contextvars.Context | None:
        """The context in which the last message was sent."""
        return self._incoming.last_context

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        while True:
            message = await self._repaired(await self._incoming.receive())
            if message is not None:
                return message

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        while True:
            message = await self._repaired(await self._incoming.__anext__())
            if message is not None:
                return message

    async def aclose(self) -> None:
        """Close the stream behind this one."""
        await self._incoming.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _repaired(self, item: SessionMessage | Exception) -> SessionMessage | Exception | None:
        """Return a message that can be used; None for one that is answered already."""
        if not isinstance(item, ValidationError):
            return item
        line = _line_of(item)
        if line is not None and not line.strip():
            return None
        try:
            # The library's own error has the line only if that is no JSON to it.
            data = replace_surrogates(json.loads(line)) if line is not None else None
        except (ValueError, RecursionError):
            await self._refuse(None, PARSE_ERROR, "this is no JSON; send one JSON-RPC message a line")
            return None
        if data is not None:
            try:
                return SessionMessage(jsonrpc_message_adapter.validate_python(data, by_name=False))
            except ValidationError as error:
                item = error
        await self._refuse(_id_of(item), *WRONG_MESSAGE)
        return None

    async def _refuse(self, to: str | int | None, code: int, message: str) -> None:
        await self._outgoing.send(SessionMessage(refusal_of(to, code, message)))


def refusal_of(to: str | int | None, code: int, message: str) -> JSONRPCError:
    """Return the error that answers a message; what it answers is None where that can't be said."""
    return JSONRPCError(jsonrpc="2.0", id=to, error=ErrorData(code=code, message=message))


def has_wrong_id(message: str | bytes) -> bool:
    """Whether a message is a request whose id is neither text nor a whole number (null, 1.5, [1], NaN …).

    The protocol allows no others, and the library takes such a request for a notification: nobody would be
    answered. What is no JSON is left to those who answer that.
    """
    try:
        data = json.loads(message)
    except (ValueError, RecursionError):
        return False
    if not isinstance(data, dict) or "id" not in data or "method" not in data:
        return False
    return isinstance(data["id"], bool) or not isinstance(data["id"], str | int)


def repaired_body(body: bytes) -> bytes:
    """Return the body of a request over HTTP without lone surrogates; what is no JSON stays as it is."""
    if not _SPELLED.search(body):
        return body
    try:
        return json.dumps(replace_surrogates(json.loads(body)), ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return body


def replace_surrogates(data: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return JSON data with U+FFFD for every half of a surrogate pair, in names and values."""
    if isinstance(data, str):
        return data if data.isascii() else _LONE_SURROGATE.sub("\ufffd", data)
    if isinstance(data, dict):
        return {replace_surrogates(name): replace_surrogates(value) for name, value in data.items()}
    return [replace_surrogates(each) for each in data] if isinstance(data, list) else data


def _line_of(error: ValidationError) -> str | None:
    """Return the line that could not be parsed; None where it was JSON, but no message."""
    first = error.errors(include_url=False, include_context=False)[0]
    if first["type"] != "json_invalid":
        return None
    return str(first["input"])


def _id_of(error: ValidationError) -> str | int | None:
    """Return the id of a request that is otherwise wrong; None if it has none that can be answered."""
    for each in error.errors(include_url=False, include_context=False):
        known = each["input"].get("id") if isinstance(each["input"], dict) else None
        if isinstance(known, str | int) and not isinstance(known, bool):
            return known
    return None
