"""What every request passes first, and what every answer carries: one layer around the whole app."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlencode

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dowse.serve.access import Access, Refusal
from dowse.serve.clients import RateLimit
from dowse.serve.metrics import Metrics
from dowse.serve.options import ServeOptions
from dowse.serve.problems import problem
from dowse.terminal import escape_name

# Everything comes from here, scripts and styles from files; nobody may put the page into a frame.
CONTENT_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "frame-ancestors 'none'; form-action 'self'"
)
_HEADERS = (
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)
# A body that comes more slowly than this is not worth waiting for.
_BODY_SECONDS = 10.0
_log = logging.getLogger("dowse.serve")


class Guard:
    """Checks requests, and gives every answer its headers; counts and times both."""

    def __init__(self, app: ASGIApp, options: ServeOptions, metrics: Metrics) -> None:
        self._app, self._options, self._metrics = app, options, metrics
        self._access = Access(options)
        self._rate = RateLimit(options.limits.rate, options.limits.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or pass it on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # there are no web sockets here
        started, statuses = time.perf_counter(), [0]
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        first = self._first_answer(scope, headers)
        body = None if first else await _body(receive, headers, self._options.limits.body_bytes)
        if isinstance(body, Response):
            first = body
        with self._metrics.in_flight():
            replay = _replayed(body, receive) if isinstance(body, bytes) else receive
            await _answered(first or self._app, scope, replay, _with_headers(send, statuses), statuses)
        self._metrics.answered(_operation(scope), statuses[0], time.perf_counter() - started)

    def _first_answer(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        """Return the answer to a request that goes no further, None for one that does."""
        path, query = scope["path"], scope.get("query_string", b"").decode("latin-1")
        limits = self._options.limits
        if len(path) + len(query) > limits.target_bytes:
            detail = f"an address has at most {limits.target_bytes:,} bytes"
            return problem(414, "address-too-long", detail, "ask for less in one request")
        refusal = self._access.refusal(scope["method"], path, headers)
        # Also who guesses at the secret is slowed down.
        wait = self._rate.wait(scope["client"][0] if scope.get("client") else "")
        if wait:
            self._metrics.refused("rate")
            seconds = {"Retry-After": str(max(1, round(wait)))}
            detail = f"more than {limits.rate:g} requests a second"
            return problem(429, "too-many-requests", detail, "ask less often", seconds)
        if refusal:
            self._metrics.refused(refusal.kind)
            return _refused(refusal)
        return self._let_in(scope, path, query)

    def _let_in(self, scope: Scope, path: str, query: str) -> Response | None:
        """Turn a secret in the page's address into a cookie, so that it stays in no history or bookmark."""
        if not self._options.token or "token=" not in query or path.startswith("/api/"):
            return None
        given = parse_qsl(query, keep_blank_values=True)
        rest = [(name, value) for name, value in given if name != "token"]
        target = f"/{path.lstrip('/')}" + (f"?{urlencode(rest)}" if rest else "")
        answer = RedirectResponse(target, 303, {"Cache-Control": "no-store"})
        if any(self._access.is_token(value) for name, value in given if name == "token"):
            answer.headers["Set-Cookie"] = self._access.cookie(scope.get("scheme") == "https")
        return answer


async def _answered(app: ASGIApp, scope: Scope, receive: Receive, send: Send, statuses: list[int]) -> None:
    """Have a request answered; what nobody foresaw goes to the log, and the client hears no more of it."""
    try:
        await app(scope, receive, send)
    except Exception as error:
        _log.exception("%s %s failed", scope["method"], escape_name(scope["path"]))
        if not statuses[0]:
            remedy = "the server's log has the details; please report it"
            answer = problem(500, "internal", f"an unexpected {type(error).__name__}", remedy)
            await answer(scope, receive, send)


def _refused(refusal: Refusal) -> Response:
    headers = {"WWW-Authenticate": 'Bearer realm="dowse"'} if refusal.status == 401 else None
    return problem(*refusal, headers)


async def _body(receive: Receive, headers: dict[str, str], most: int) -> bytes | Response | None:
    """Return the whole body, or what to say to one that is too long or too slow; None if there is none."""
    announced = headers.get("content-length", "")
    if not announced and "transfer-encoding" not in headers:
        return None
    too_long = problem(413, "body-too-long", f"a request has at most {most:,} bytes", "send less")
    if announced.isdigit() and int(announced) > most:
        return too_long
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            while True:
                message = await receive()
                body += message.get("body", b"")
                if len(body) > most:
                    return too_long
                if not message.get("more_body"):
                    return bytes(body)
    except TimeoutError:
        return problem(408, "too-slow", "the request did not arrive in time", "send it again")


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Give the app the body that was read, then whatever comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


def _with_headers(send: Send, statuses: list[int]) -> Send:
    async def send_with(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses[0] = message["status"]
            message["headers"] = [*message.get("headers", ()), *_missing(message.get("headers", ()))]
        await send(message)

    return send_with


def _missing(given: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers to add: an answer's own ones stay; what no one said may be kept, may not."""
    known = {name.lower() for name, _ in given}
    wanted = (*_HEADERS, (b"cache-control", b"no-store"))
    return [(name, value) for name, value in wanted if name not in known]


def _operation(scope: Scope) -> str:
    """Return what was asked for: the operation's id, or "page"."""
    route = scope.get("route")
    return getattr(route, "operation_id", None) or ("page" if route else "none")
