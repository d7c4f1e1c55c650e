"""What every HTTP request to the MCP server passes first: the same rules as `dowse serve` has."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dowse.mcp.messages import repaired_body
from dowse.serve.access import Access, Refusal
from dowse.serve.clients import RateLimit
from dowse.serve.options import ServeOptions
from dowse.serve.problems import problem

# More than the library takes of one request.
_MOST_BYTES = 1 << 20


def _repairing(receive: Receive) -> Receive:
    """Return what gives a body without lone surrogates: no reply that repeats one could be written."""

    async def repaired() -> Message:
        message = await receive()
        body = message.get("body", b"")
        while message.get("more_body") and len(body) <= _MOST_BYTES:  # the library refuses longer ones
            message = await receive()
            body += message.get("body", b"")
        return {**message, "body": repaired_body(body)} if message["type"] == "http.request" else message

    return repaired


class HttpGuard:
    """Refuses requests under another name, from other sites' pages, without the secret, or too many."""

    def __init__(self, app: ASGIApp, options: ServeOptions) -> None:
        self._app = app
        self._access = Access(options)
        self._rate = RateLimit(options.limits.rate, options.limits.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that goes no further, or pass it on."""
        if scope["type"] == "http":
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            client = scope["client"][0] if scope.get("client") else ""
            # All of it is API: nothing here is a page that may be seen without the secret.
            refusal = self._access.refusal(scope["method"], f"/api{scope['path']}", headers)
            if self._rate.wait(client):
                refusal = Refusal(429, "too-many-requests", "too many requests", "ask less often")
            if refusal is not None:
                remedy = refusal.remedy.replace("dowse serve", "dowse mcp")
                await problem(refusal.status, refusal.kind, refusal.detail, remedy)(scope, receive, send)
                return
            receive = _repairing(receive)
        elif scope["type"] != "lifespan":
            return  # there are no web sockets here
        await self._app(scope, receive, send)
