"""The checks that every HTTP request to the MCP server passes: those of `dowse serve`, and JSON-RPC ids."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from dowse.interfaces.mcp.messages import INVALID_MESSAGE, error_response, has_invalid_id, repair_body
from dowse.services.web.guard import RequestGuard, replay_body
from dowse.services.web.options import ServeOptions


class HttpGuard(RequestGuard):
    """The middleware of `dowse mcp --http`."""

    def __init__(self, app: ASGIApp, options: ServeOptions) -> None:
        super().__init__(app, options, "dowse mcp")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that is rejected, or pass it on."""
        if scope["type"] == "http":
            body = await self.check(scope, receive)
            if isinstance(body, Response):
                await body(scope, receive, send)
                return
            if body is not None:
                receive = replay_body(body, receive)
        elif scope["type"] != "lifespan":
            return  # there are no web sockets
        await self.app(scope, receive, send)

    def check_head(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        """Require the token for every path: there is no page that could be seen without it."""
        return super().check_head({**scope, "path": f"/api{scope['path']}"}, headers)

    def check_body(self, body: bytes) -> bytes | Response:
        """Reject requests with an invalid id, and repair lone surrogates."""
        if has_invalid_id(body):
            response = error_response(None, *INVALID_MESSAGE)
            return JSONResponse(response.model_dump(by_alias=True, exclude_unset=True), 400)
        return repair_body(body)
