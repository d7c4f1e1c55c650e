"""The checks that every HTTP request to the MCP server passes: those of `dowse serve`, and JSON-RPC ids."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

from dowse.interfaces.mcp.messages import INVALID_MESSAGE, error_response, has_invalid_id, repair_body
from dowse.services.web.guard import RequestGuard
from dowse.services.web.options import ServeOptions


class HttpGuard(RequestGuard):
    """The middleware of `dowse mcp --http`."""

    def __init__(self, app: ASGIApp, options: ServeOptions) -> None:
        # Every path needs the token: there is no page that could be seen without it.
        super().__init__(app, options, "dowse mcp", protected="")

    def check_body(self, body: bytes) -> bytes | Response:
        """Reject requests with an invalid id, and repair lone surrogates."""
        if has_invalid_id(body):
            response = error_response(None, *INVALID_MESSAGE)
            return JSONResponse(response.model_dump(by_alias=True, exclude_unset=True), 400)
        return repair_body(body)
