"""The checks that every HTTP request passes before an application sees it."""

from __future__ import annotations

import logging

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope

from dowse.services.web.access import AccessRules, Refusal
from dowse.services.web.options import ServeOptions
from dowse.services.web.problem import problem
from dowse.services.web.request_body import read_body
from dowse.services.web.token_bucket import TokenBuckets

_UNREADABLE = Refusal(
    400, "bad-request", "the request can't be read", "send it as browsers do, without unusual headers"
)
_log = logging.getLogger("dowse.services.web")


class RequestGuard:
    """The base of ASGI middleware: rate limit, access rules and body limits, in this order."""

    def __init__(self, app: ASGIApp, options: ServeOptions, command: str = "dowse serve") -> None:
        self.app, self.options = app, options
        self.access = AccessRules(options, command)
        self._buckets = TokenBuckets(options.limits.rate, options.limits.burst)

    async def check(self, scope: Scope, receive: Receive) -> bytes | Response | None:
        """Return the body of a request that may proceed (None if it has none), or the error response."""
        limits = self.options.limits
        # First of all: guesses at the token and unreadable requests count for the rate limit, too.
        wait = self._buckets.retry_after(scope["client"][0] if scope.get("client") else "")
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
            body = await read_body(receive, headers, limits.body_bytes, limits.body_seconds)
            return self.check_body(body) if isinstance(body, bytes) else body
        except Exception as error:  # a request that can't be checked is rejected
            _log.error("a request could not be checked (%s)", type(error).__name__)
            return self.refuse(_UNREADABLE)

    def check_head(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        """Return the error response that a request's method, URL or headers call for, else None."""
        refusal = self.access.check(scope["method"], scope["path"], headers)
        return self.refuse(refusal) if refusal else None

    def check_body(self, body: bytes) -> bytes | Response:
        """Return the body for the application, or the error response that it calls for."""
        return body

    def refuse(self, refusal: Refusal) -> Response:
        """Return the response to a request that is rejected."""
        self.count_refusal(refusal.kind)
        headers = {"WWW-Authenticate": 'Bearer realm="dowse"'} if refusal.status == 401 else None
        return problem(*refusal, headers)

    def count_refusal(self, reason: str) -> None:
        """Count a rejected request, where there are metrics."""
