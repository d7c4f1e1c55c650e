"""Run the server until Ctrl-C, and leave nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import replace
from types import FrameType
from urllib.parse import quote

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from dowse.errors import DowseError
from dowse.index import Index
from dowse.interfaces.daemon.server import DaemonServer
from dowse.interfaces.http.app import create_app
from dowse.interfaces.http.connections import ACCEPT_AT_ONCE, AcceptErrors, limited
from dowse.interfaces.http.options import Limits, ServeOptions

# How long open requests may go on after Ctrl-C.
_GRACE_SECONDS = 3
# A request's address and headers; a little more than an address may have, so that we say what is wrong.
_HEAD_BYTES = 96 * 1024
# Connections that may wait to be accepted.
_BACKLOG = 1024


class _Server(uvicorn.Server):
    """Lets go of streams that never end by themselves when the server is told to."""

    daemon: DaemonServer | None = None  # runs commands beside it

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to answer; then let more wait in line than are accepted at once: asyncio allows no more."""
        asyncio.get_running_loop().set_exception_handler(AcceptErrors())
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(_BACKLOG)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End what answers commands too: after this, the signal that ended the server is sent again."""
        if self.daemon is not None:
            self.daemon.stop()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End the streams of events, then the server."""
        app = self.config.app
        if isinstance(app, FastAPI):
            app.state.server.broker.close()
        super().handle_exit(sig, frame)


def serve(indexes: Sequence[Index], options: ServeOptions, *, open_page: bool = False) -> None:
    """Answer requests until the process is told to end."""
    listening = bound(options.host, options.port)
    options = replace(options, port=listening.getsockname()[1])
    address = url(options)
    sys.stdout.write(f"dowse answers at {address}\n")
    sys.stdout.flush()
    if open_page:
        webbrowser.open(address)
    app = create_app(indexes, options)
    watchers = app.state.server.refresher.watchers
    server = server_of(app, options.limits)
    server.daemon = DaemonServer(indexes, list(watchers or ()))
    server.daemon.start()
    # Ctrl-C is how this ends: the server has cleaned up before the signal comes through.
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


def server_of(app: ASGIApp, limits: Limits) -> _Server:
    """Return what answers for an app, within limits on its connections."""
    return _Server(
        uvicorn.Config(
            app,
            # Warnings are about what clients send: each could fill the log with them.
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,  # nobody is believed to be somebody else
            timeout_graceful_shutdown=_GRACE_SECONDS,
            http=limited(limits),
            ws="none",
            backlog=ACCEPT_AT_ONCE,
            h11_max_incomplete_event_size=_HEAD_BYTES,
        )
    )


def url(options: ServeOptions) -> str:
    """Return the address of the page."""
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(options.host, options.host)  # noqa: S104 - shown only
    host = f"[{host}]" if ":" in host and not host.startswith("[") else host
    token = f"?token={quote(options.token, safe='')}" if options.token else ""
    return f"http://{host}:{options.port}/{token}"


def bound(host: str, port: int) -> socket.socket:
    """Take the port and listen at once: who comes before the server is ready waits, and is answered."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol named: asyncio else leaves Nagle's algorithm on, which holds answers back for 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host.strip("[]"), port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise DowseError(
            f"{host}:{port} can't be listened on ({error.strerror}); choose another with --port or --host"
        ) from error
    return listening
