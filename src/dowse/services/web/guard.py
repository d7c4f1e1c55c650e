"""The checks that every HTTP request passes before an application sees it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dowse.services.thread_pool import client_name
from dowse.services.web.access import PROTECTED, AccessRules, Refusal
from dowse.services.web.options import ServeOptions
from dowse.services.web.problem import problem
from dowse.services.web.request_id import begin_request

_UNREADABLE = Refusal(
    400, "bad-request", "the request can't be read", "send it as browsers do, without unusual headers"
)
_log = logging.getLogger("dowse.services.web")


class RequestGuard:
    """The base of ASGI middleware: access rules, then body limits."""

    def __init__(
        self,
        app: ASGIApp,
        options: ServeOptions,
        command: str = "dowse serve",
        protected: Sequence[str] = PROTECTED,
    ) -> None:
        self.app, self.options = app, options
        self.access = AccessRules(options, command, protected)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that is rejected, or pass it on."""
        if scope["type"] == "http":
            client_name.set(scope["client"][0] if scope.get("client") else "")
            send = begin_request(scope, send)
            body = await self.check(scope, receive)
            if isinstance(body, bytes):
                receive = replay_body(body, receive)
            await self.respond(body if isinstance(body, Response) else self.app, scope, receive, send)
        elif scope["type"] == "lifespan":  # there are no web sockets
            await self.app(scope, receive, send)

    async def respond(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the application, or with the error response in its stead."""
        await app(scope, receive, send)

    async def check(self, scope: Scope, receive: Receive) -> bytes | Response | None:
        """Return the body of a request that may proceed (None if it has none), or the error response."""
        limits = self.options.limits
        try:
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            response = self.check_head(scope, headers)
            if response is not None:
                return response
            return await read_body(receive, headers, limits.body_bytes, limits.body_seconds)
        except Exception as error:  # a request that can't be checked is rejected
            _log.error("a request could not be checked (%s)", type(error).__name__)
            return self.refuse(_UNREADABLE)

    def check_head(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        """Return the error response that a request's method, URL or headers call for, else None."""
        refusal = self.access.check(scope["method"], scope["path"], headers)
        return self.refuse(refusal) if refusal else None

    def refuse(self, refusal: Refusal) -> Response:
        """Return the response to a request that is rejected."""
        self.count_refusal(refusal.kind)
        headers = {"WWW-Authenticate": 'Bearer realm="dowse"'} if refusal.status == 401 else None
        return problem(*refusal, headers)

    def count_refusal(self, reason: str) -> None:
        """Count a rejected request, where there are metrics."""


async def read_body(
    receive: Receive, headers: Mapping[str, str], max_bytes: int, seconds: float
) -> bytes | Response | None:
    """Return the body, the error response to one that is too long or too slow, or None if there is none."""
    length = headers.get("content-length", "")
    if not length and "transfer-encoding" not in headers:
        return None
    too_long = problem(413, "body-too-long", f"a request has at most {max_bytes:,} bytes", "send less")
    if length.isascii() and length.isdigit() and int(length) > max_bytes:
        return too_long
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                body += message.get("body", b"")
                if len(body) > max_bytes:
                    return too_long
                if not message.get("more_body"):
                    return bytes(body)
    except TimeoutError:
        return problem(408, "too-slow", "the request did not arrive in time", "send it again")


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the application the body that was read, then whatever follows."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return pending.pop() if pending else await receive()

    return next_message
