"""The checks that every HTTP request passes before an application sees it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dowse.services.thread_pool import client_name
from dowse.services.web.access import AccessRules, Refusal
from dowse.services.web.options import ServeOptions
from dowse.services.web.problem import problem
from dowse.services.web.request_id import begin_request

# Clients with a bucket; beyond that, the least recently seen one is dropped.
_MAX_CLIENTS = 10_000
_UNREADABLE = Refusal(
    400, "bad-request", "the request can't be read", "send it as browsers do, without unusual headers"
)
_log = logging.getLogger("dowse.services.web")


class RequestGuard:
    """The base of ASGI middleware: rate limit, access rules and body limits, in this order."""

    def __init__(
        self, app: ASGIApp, options: ServeOptions, command: str = "dowse serve", protected: str = "/api"
    ) -> None:
        self.app, self.options = app, options
        self.access = AccessRules(options, command, protected)
        self._buckets = TokenBuckets(options.limits.rate, options.limits.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that is rejected, or pass it on."""
        if scope["type"] == "http":
            client_name.set(_address(scope))
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
        # First of all: guesses at the token and unreadable requests count for the rate limit, too.
        wait = self._buckets.retry_after(_address(scope))
        if wait:
            self.count_refusal("rate")
            retry = {"Retry-After": str(max(1, round(wait)))}
            detail = f"more than {limits.rate:g} requests a second"
            return problem(429, "too-many-requests", detail, "send fewer requests", retry)
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


def _address(scope: Scope) -> str:
    return scope["client"][0] if scope.get("client") else ""


class TokenBuckets:
    """Token buckets by client address. Not thread-safe: used by the event loop alone."""

    def __init__(self, rate: float, burst: int) -> None:
        """Add `rate` tokens a second to each bucket, up to `burst`; a rate of 0 sets no limit."""
        self._rate, self._burst = rate, float(burst)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, and when that was

    def retry_after(self, client: str) -> float:
        """Take a token and return 0, or return the seconds until the client has one."""
        if not self._rate:
            return 0.0
        now = time.monotonic()
        tokens, seen = self._buckets.pop(client, (self._burst, now))
        tokens = min(self._burst, tokens + (now - seen) * self._rate)
        allowed = tokens >= 1
        self._buckets[client] = (tokens - allowed, now)
        if len(self._buckets) > _MAX_CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - tokens) / self._rate


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
