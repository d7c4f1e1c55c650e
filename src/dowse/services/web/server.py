"""The uvicorn server: a listening socket, its limits, and a clean shutdown."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from dowse.errors import DowseError
from dowse.process_memory import prepare_for_long_life, return_free_memory
from dowse.services.web.options import Limits

# Time limit for open requests after a signal; a second Ctrl-C ends them at once.
GRACE_SECONDS = 15
# A request's URL and headers; a little more than a URL may have, so that the guard can say what is wrong.
_HEAD_BYTES = 96 * 1024
# Connections that may wait to be accepted.
_BACKLOG = 1024
# How often free memory is given back.
_TICK_SECONDS = 30


def create_server(
    app: ASGIApp,
    limits: Limits,
    on_ready: Callable[[], None] = lambda: None,
    on_exit: Callable[[], None] = lambda: None,
) -> uvicorn.Server:
    """Return the server of an application, within limits on its connections.

    Args:
        app: The application.
        limits: Its limits.
        on_ready: Called when it answers, and a signal would end it.
        on_exit: Called when a signal arrives, before requests are waited for.
    """
    prepare_for_long_life()
    is_ready = False

    async def tick() -> None:
        nonlocal is_ready
        if not is_ready:
            is_ready = True
            _before_signals(on_exit)
            on_ready()
        asyncio.get_running_loop().run_in_executor(None, return_free_memory)

    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_config=None,  # as all else is logged (`logs.py`)
            # Warnings are about what clients send: each could fill the log with them.
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,  # X-Forwarded-For is set by anybody
            timeout_graceful_shutdown=GRACE_SECONDS,
            timeout_keep_alive=int(limits.head_seconds),
            limit_concurrency=limits.connections,
            http=_connection_factory(limits),  # type: ignore[arg-type]
            ws="none",
            backlog=_BACKLOG,
            h11_max_incomplete_event_size=_HEAD_BYTES,
            callback_notify=tick,
            timeout_notify=_TICK_SECONDS,
        )
    )


def _connection_factory(limits: Limits) -> Callable[..., H11Protocol]:
    """Return what opens connections; those that send no whole request are neither many nor old (slowloris).

    They take at most half of the connections there may be: the oldest makes room, as clients of good will
    send their requests at once.
    """
    silent: list[H11Protocol] = []

    def open_connection(**arguments: Any) -> H11Protocol:  # noqa: ANN401 - of uvicorn
        silent[:] = filter(_is_silent, silent)
        if len(silent) >= limits.connections // 2:
            _close_if_silent(silent.pop(0))
        connection = H11Protocol(**arguments)
        silent.append(connection)
        connection.loop.call_later(limits.head_seconds, _close_if_silent, connection)
        return connection

    return open_connection


def _is_silent(connection: H11Protocol) -> bool:
    """Whether a connection is open, and no request has arrived on it yet."""
    is_closed = connection.transport is not None and connection.transport.is_closing()
    return connection.cycle is None and not is_closed


def _close_if_silent(connection: H11Protocol) -> None:
    if connection.transport is not None and _is_silent(connection):
        connection.transport.abort()


def _before_signals(on_exit: Callable[[], None]) -> None:
    """Call a function before uvicorn's own handlers of signals, which only the main thread has."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, partial(_handle_signal, on_exit, signal.getsignal(number)))


def _handle_signal(on_exit: Callable[[], None], then: Any, number: int, frame: FrameType | None) -> None:  # noqa: ANN401 - as `signal` types handlers
    on_exit()
    then(number, frame)


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
