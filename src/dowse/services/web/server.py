"""The uvicorn server: a listening socket, connection limits, and a clean shutdown."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from dowse.errors import DowseError
from dowse.process_memory import prepare_for_long_life, return_free_memory
from dowse.services.web.connections import ACCEPT_AT_ONCE, AcceptErrors, connection_class
from dowse.services.web.log_limit import limit_logs
from dowse.services.web.options import Limits
from dowse.services.web.systemd import notify, watchdog_seconds

# Time limits for open requests: after Ctrl-C, when somebody watches, and after SIGTERM.
_GRACE_SECONDS, TERM_GRACE_SECONDS = 3, 15
# A request's URL and headers; a little more than a URL may have, so that the guard can say what is wrong.
_HEAD_BYTES = 96 * 1024
# Connections that may wait to be accepted.
_BACKLOG = 1024
# Ticks of uvicorn, ten a second, between two times that free memory is given back.
_TRIM_TICKS = 300


class Server(uvicorn.Server):
    """A server with hooks.

    `on_ready` runs when it answers and a signal would end it, `on_exit` when one arrives, and `on_shutdown`
    before it shuts down.
    """

    on_ready: Callable[[], None] | None = None
    on_exit: Callable[[], None] | None = None
    on_shutdown: Callable[[], None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start; then allow a longer backlog than the connections accepted at once, which asyncio can't."""
        asyncio.get_running_loop().set_exception_handler(AcceptErrors())
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(_BACKLOG)
        notify("READY=1")
        if self.on_ready is not None:
            self.on_ready()

    async def on_tick(self, counter: int) -> bool:
        """Do what is to be done regularly; returns whether to end."""
        if counter % _TRIM_TICKS == _TRIM_TICKS - 1:
            asyncio.get_running_loop().run_in_executor(None, return_free_memory)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut down; afterwards uvicorn raises the signal again."""
        if self.on_shutdown is not None:
            self.on_shutdown()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        notify("STOPPING=1")
        if self.on_exit is not None:
            self.on_exit()
        if sig == signal.SIGTERM:
            self.config.timeout_graceful_shutdown = TERM_GRACE_SECONDS
        super().handle_exit(sig, frame)


def create_server(app: ASGIApp, limits: Limits) -> Server:
    """Return the server of an application, within limits on its connections and its log."""
    prepare_for_long_life()
    limit_logs()
    return Server(
        uvicorn.Config(
            app,
            log_config=None,  # as all else is logged (`logs.py`)
            # Warnings are about what clients send: each could fill the log with them.
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,  # X-Forwarded-For could evade the rate limit
            timeout_graceful_shutdown=_GRACE_SECONDS,
            http=connection_class(limits),
            ws="none",
            backlog=ACCEPT_AT_ONCE,
            h11_max_incomplete_event_size=_HEAD_BYTES,
            # Called by the event loop: a service manager restarts a server whose loop hangs.
            callback_notify=_feed_watchdog if watchdog_seconds() else None,
            timeout_notify=int(watchdog_seconds() / 3),
        )
    )


async def _feed_watchdog() -> None:
    notify("WATCHDOG=1")


def listen(host: str, port: int) -> socket.socket:
    """Bind and listen at once: clients that connect before the server is ready wait, and are served."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With an explicit protocol: otherwise asyncio leaves Nagle's algorithm on, which delays answers by 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host.strip("[]"), port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise DowseError(
            f"can't listen on {host}:{port} ({error.strerror}); choose another with --port or --host"
        ) from error
    return listening
