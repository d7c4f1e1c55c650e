"""What every HTTP request to the MCP server passes first: the same rules as `dowse serve` has."""

from __future__ import annotations

import logging

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from dowse.interfaces.http.authentication import UNREADABLE, Access, Refusal
from dowse.interfaces.http.options import ServeOptions
from dowse.interfaces.http.problems import problem
from dowse.interfaces.http.rate_limit import RateLimit
from dowse.interfaces.http.request_body import read_body, replayed
from dowse.interfaces.mcp.messages import WRONG_MESSAGE, has_wrong_id, refusal_of, repaired_body

_log = logging.getLogger("dowse.interfaces.mcp")


class HttpGuard:
    """Refuses requests under another name, from other sites' pages, without the secret, or too many."""

    def __init__(self, app: ASGIApp, options: ServeOptions) -> None:
        self._app, self._limits = app, options.limits
        self._access = Access(options)
        self._rate = RateLimit(options.limits.rate, options.limits.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that goes no further, or pass it on."""
        if scope["type"] == "http":
            body = await self._checked(scope, receive)
            if isinstance(body, Response):
                await body(scope, receive, send)
                return
            if body is not None:
                receive = replayed(body, receive)
        elif scope["type"] != "lifespan":
            return  # there are no web sockets here
        await self._app(scope, receive, send)

    async def _checked(self, scope: Scope, receive: Receive) -> bytes | Response | None:
        """Return the body of a request that may go on, or the answer to one that may not."""
        if self._rate.wait(scope["client"][0] if scope.get("client") else ""):
            return problem(429, "too-many-requests", "too many requests", "ask less often")
        try:
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            # All of it is API: nothing here is a page that may be seen without the secret.
            refusal = self._access.refusal(scope["method"], f"/api{scope['path']}", headers)
            if refusal is not None:
                return _refused(refusal)
            body = await read_body(receive, headers, self._limits.body_bytes, self._limits.body_seconds)
            if not isinstance(body, bytes):
                return body
            return _wrong_message() if has_wrong_id(body) else repaired_body(body)
        except Exception as error:  # what can't be checked is refused
            _log.error("a request could not be checked (%s)", type(error).__name__)
            return _refused(UNREADABLE)


def _refused(refusal: Refusal) -> Response:
    remedy = refusal.remedy.replace("dowse serve", "dowse mcp")
    return problem(refusal.status, refusal.kind, refusal.detail, remedy)


def _wrong_message() -> Response:
    return JSONResponse(refusal_of(None, *WRONG_MESSAGE).model_dump(by_alias=True, exclude_unset=True), 400)
