"""Run the MCP server, over standard input and output or over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import sys

from mcp.server.stdio import stdio_server

from dowse.errors import DowseError
from dowse.interfaces.mcp.options import McpOptions
from dowse.interfaces.mcp.server import McpServer
from dowse.lazy_classes import replace
from dowse.process_memory import prepare_for_long_life
from dowse.services.web.options import WITHOUT_TOKEN, ServeOptions, is_loopback

# The path of the endpoint over HTTP.
HTTP_PATH = "/mcp"
# Of one request: the longest query, and its filters, several times over.
_BODY_BYTES = 256 * 1024
# Open sessions, and how long one may be idle.
_MAX_SESSIONS, _IDLE_SECONDS = 200, 1_800.0


def run_stdio(options: McpOptions) -> None:
    """Answer the client that started this process, until it closes the connection."""
    prepare_for_long_life()
    asyncio.run(_stdio(McpServer(options)))


async def _stdio(server: McpServer) -> None:
    protocol = server.protocol
    try:
        async with stdio_server() as (incoming, outgoing):
            await protocol.run(incoming, outgoing, protocol.create_initialization_options())
    finally:
        server.close()


def run_http(options: McpOptions, host: str, port: int, token: str, *, show_token: bool) -> None:
    """Answer over HTTP, on this machine alone, until Ctrl-C."""
    from dowse.services.web.guard import RequestGuard
    from dowse.services.web.logs import configure_logs
    from dowse.services.web.server import create_server, listen

    if not is_loopback(host):
        raise DowseError(
            f"{host} can be reached from other machines; listen on 127.0.0.1, and let a tunnel lead there"
        )
    configure_logs()
    listening = listen(host, port)
    limits = replace(options.limits, body_bytes=_BODY_BYTES)
    serve_options = ServeOptions(host=host, port=listening.getsockname()[1], token=token, limits=limits)
    server = McpServer(options)
    app = server.protocol.streamable_http_app(
        streamable_http_path=HTTP_PATH,
        max_request_body_size=_BODY_BYTES,
        max_sessions=_MAX_SESSIONS,
        session_idle_timeout=_IDLE_SECONDS,
    )
    name = f"[{host.strip('[]')}]" if ":" in host else host

    def announce() -> None:
        sys.stdout.write(f"dowse answers MCP at http://{name}:{serve_options.port}{HTTP_PATH}\n")
        if not token:
            sys.stdout.write(f"{WITHOUT_TOKEN}\n")
        elif show_token:
            sys.stdout.write(f"with the header Authorization: Bearer {token}\n")
        sys.stdout.flush()

    # Every path needs the token: there is no page that could be seen without it.
    guard = RequestGuard(app, serve_options, "dowse mcp", protected=("",))
    web_server = create_server(guard, limits, announce)
    with contextlib.suppress(KeyboardInterrupt):
        web_server.run(sockets=[listening])
    server.close()
