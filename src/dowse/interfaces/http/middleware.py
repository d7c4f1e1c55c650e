"""The outermost ASGI middleware: checks requests, adds security headers to responses, keeps metrics."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlencode

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dowse.interfaces.http.metrics import Metrics
from dowse.security.terminal import escape_name
from dowse.services.web.disconnects import run_while_connected
from dowse.services.web.guard import RequestGuard
from dowse.services.web.logs import log_request
from dowse.services.web.options import ServeOptions
from dowse.services.web.problem import problem

# Only our own origin, scripts and styles from files alone; nobody may embed the page in a frame.
CONTENT_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "frame-ancestors 'none'; form-action 'self'"
)
# Added to every response that does not set them itself; without `no-store`, answers could be cached.
_HEADERS = (
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
    (b"cache-control", b"no-store"),
)
# What metrics count, as nginx does, if the client did not wait for the response.
_CLIENT_GONE = 499
_log = logging.getLogger("dowse.interfaces.http")


class Guard(RequestGuard):
    """The middleware of `dowse serve`."""

    def __init__(self, app: ASGIApp, options: ServeOptions, metrics: Metrics) -> None:
        super().__init__(app, options)
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or pass it on."""
        started = time.perf_counter()
        await super().__call__(scope, receive, send)
        if scope["type"] == "http":
            seconds = time.perf_counter() - started
            self._metrics.answered(_operation(scope), scope["status"], seconds)
            log_request(scope, seconds, with_query=self.options.log_queries)

    async def respond(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer; unexpected exceptions go to the log, and the client gets a plain 500."""
        scope["status"] = 0
        send = _with_headers(send, scope)
        with self._metrics.in_flight():
            try:
                if not await run_while_connected(app, scope, receive, send):
                    scope["status"] = scope["status"] or _CLIENT_GONE
            except Exception as error:
                _log.exception("%s %s failed", scope["method"], escape_name(scope["path"]))
                if not scope["status"]:
                    remedy = "the server's log has the details; please report it"
                    response = problem(500, "internal", f"an unexpected {type(error).__name__}", remedy)
                    await response(scope, receive, send)

    def check_head(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        """Also limit the length of the URL, and turn a token in the page's URL into a cookie."""
        path, query = scope["path"], scope.get("query_string", b"").decode("latin-1")
        limit = self.options.limits.target_bytes
        if len(path) + len(query) > limit:
            detail = f"a URL has at most {limit:,} bytes"
            return problem(414, "address-too-long", detail, "ask for less in one request")
        return super().check_head(scope, headers) or self._set_cookie(scope, path, query)

    def count_refusal(self, reason: str) -> None:
        """Count a rejected request."""
        self._metrics.refused(reason)

    def _set_cookie(self, scope: Scope, path: str, query: str) -> Response | None:
        """Move a token from the page's URL to a cookie, so that no history or bookmark contains it."""
        if not self.options.token or "token=" not in query or path.startswith("/api/"):
            return None
        parameters = parse_qsl(query, keep_blank_values=True)
        others = [(name, value) for name, value in parameters if name != "token"]
        target = f"/{path.lstrip('/')}" + (f"?{urlencode(others)}" if others else "")
        response = RedirectResponse(target, 303, {"Cache-Control": "no-store"})
        client_port = scope["client"][1] if scope.get("client") else 0
        if any(self.access.admits(value, client_port) for name, value in parameters if name == "token"):
            response.headers["Set-Cookie"] = self.access.cookie(scope.get("scheme") == "https")
        return response


def _with_headers(send: Send, scope: Scope) -> Send:
    """Return a `send` that adds the security headers, and records the status in the scope."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            scope["status"] = message["status"]
            headers: Iterable[tuple[bytes, bytes]] = message.get("headers", ())
            known = {name.lower() for name, _ in headers}
            missing = [(name, value) for name, value in _HEADERS if name not in known]
            message["headers"] = [*headers, *missing]
        await send(message)

    return send_with_headers


def _operation(scope: Scope) -> str:
    """Return the operation id of a request, "page" or "none", for metrics."""
    route = scope.get("route")
    return getattr(route, "operation_id", None) or ("page" if route else "none")
