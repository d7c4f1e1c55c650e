"""What every request passes first, and what every answer carries: one layer around the whole app."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlencode

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dowse.interfaces.http.authentication import UNREADABLE, Access, Refusal
from dowse.interfaces.http.metrics import Metrics
from dowse.interfaces.http.options import ServeOptions
from dowse.interfaces.http.problems import problem
from dowse.interfaces.http.rate_limit import RateLimit
from dowse.interfaces.http.request_body import read_body, replayed
from dowse.security.terminal import escape_name

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
_log = logging.getLogger("dowse.interfaces.http")


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
        body = await self._checked(scope, receive)
        first = body if isinstance(body, Response) else None
        with self._metrics.in_flight():
            replay = replayed(body, receive) if isinstance(body, bytes) else receive
            await _answered(first or self._app, scope, replay, _with_headers(send, statuses), statuses)
        self._metrics.answered(_operation(scope), statuses[0], time.perf_counter() - started)

    async def _checked(self, scope: Scope, receive: Receive) -> bytes | Response | None:
        """Return the body of a request that may go on, or the answer to one that may not."""
        # Before all else: also who guesses at the secret, or sends what nobody can read, is slowed down.
        wait = self._rate.wait(scope["client"][0] if scope.get("client") else "")
        limits = self._options.limits
        if wait:
            self._metrics.refused("rate")
            seconds = {"Retry-After": str(max(1, round(wait)))}
            detail = f"more than {limits.rate:g} requests a second"
            return problem(429, "too-many-requests", detail, "ask less often", seconds)
        try:
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            first = self._first_answer(scope, headers)
            return first or await read_body(receive, headers, limits.body_bytes, limits.body_seconds)
        except Exception as error:  # what can't be checked is refused
            _log.error("a request could not be checked (%s)", type(error).__name__)
            return self._refused(UNREADABLE)

    def _first_answer(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        """Return the answer to a request that goes no further, None for one that does."""
        path, query = scope["path"], scope.get("query_string", b"").decode("latin-1")
        limits = self._options.limits
        if len(path) + len(query) > limits.target_bytes:
            detail = f"an address has at most {limits.target_bytes:,} bytes"
            return problem(414, "address-too-long", detail, "ask for less in one request")
        refusal = self._access.refusal(scope["method"], path, headers)
        return self._refused(refusal) if refusal else self._let_in(scope, path, query)

    def _refused(self, refusal: Refusal) -> Response:
        self._metrics.refused(refusal.kind)
        headers = {"WWW-Authenticate": 'Bearer realm="dowse"'} if refusal.status == 401 else None
        return problem(*refusal, headers)

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
