"""The id of a request: in its response, its error and its log lines, to find them by each other."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

from starlette.types import Message, Scope, Send

from dowse.lazy_classes import dataclass, field

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

HEADER = b"x-request-id"
# What proxies send: UUIDs, hexadecimal numbers and the like. Anything else could forge lines of a log.
_WELL_FORMED = re.compile(rb"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """What is known of a request while it is being answered."""

    id: str
    generations: dict[str, int] = field(default_factory=dict)  # of the indexes that answered, by name


_current: ContextVar[RequestFacts | None] = ContextVar("dowse_request", default=None)


def current_request() -> RequestFacts | None:
    """Return the request that this task or thread works on."""
    return _current.get()


def keep_request(work: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Return a function that works on the current request in another thread, too."""
    facts = _current.get()

    @wraps(work)
    def work_on_request(*arguments: Parameters.args, **more: Parameters.kwargs) -> Result:
        token = _current.set(facts)
        try:
            return work(*arguments, **more)
        finally:
            _current.reset(token)

    return work_on_request


def begin_request(scope: Scope, send: Send) -> Send:
    """Give a request its id, the client's if it sent one; return a `send` that adds it to the response."""
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    given = next((value for name, value in headers if name == HEADER), b"")
    identifier = given if _WELL_FORMED.fullmatch(given) else secrets.token_hex(8).encode()
    _current.set(RequestFacts(identifier.decode()))

    async def send_with_id(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), (HEADER, identifier)]
        await send(message)

    return send_with_id
