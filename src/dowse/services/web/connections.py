"""Limits on connections, against slowloris attacks: clients that send or read slowly, and too many of them.

uvicorn limits neither how long a request may take to arrive nor how many connections are open. A few hundred
half-sent requests would then take every file descriptor of the process, and no other client would be served.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import time
from collections import Counter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from dowse.services.web.options import Limits

# Connections accepted in one turn of the event loop. asyncio accepts as many before any of them is counted;
# a few turns may pass until then.
ACCEPT_AT_ONCE = 16
# File descriptors reserved for the rest of the process: indexes, lanes, connections that are being closed.
_RESERVED_FILES = 64
# The minimum, even for a process that may open hardly any files.
_MIN_CONNECTIONS = 8
# Minimum interval of log messages about a lack of file descriptors.
_LOG_SECONDS = 60.0
# What asyncio reports if the process or the system has no file descriptors or buffers left for accept().
_ACCEPT_ERRORS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_log = logging.getLogger("dowse.services.web")


class LimitedConnection(H11Protocol):
    """A connection with time limits for its client, and a limit on the number of connections.

    When there are too many, one that keeps the server waiting is dropped: of the address that has most of
    those, the one that does so for longest. Never one whose request is being worked on, or that carries a
    stream of events.
    """

    limits = Limits()
    max_connections = 0

    def __init__(self, *arguments: Any, **more: Any) -> None:  # noqa: ANN401 - as of the base class
        super().__init__(*arguments, **more)
        self._phase = ""  # what the server waits for: "head", "body" or "answer"
        self._since = 0.0  # when that began
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count a connection, and start the timer for its first request."""
        super().connection_made(transport)
        # Any unsent byte pauses writing, which starts the timer of the response.
        transport.set_write_buffer_limits(high=0)
        self._update_timer()
        if len(self.connections) > self.max_connections:
            others = [each for each in self.connections if isinstance(each, LimitedConnection)]
            waiting = [each for each in others if each._phase and each is not self]
            counts = Counter(each._address for each in waiting)
            min(waiting, key=lambda each: (-counts[each._address], each._since), default=self)._drop()

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._enter("")
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Process what the client sent."""
        super().data_received(data)
        self._update_timer()

    def on_response_complete(self) -> None:
        """Start the timer for the next request, or for the rest of one that is answered already."""
        super().on_response_complete()
        self._update_timer()

    def pause_writing(self) -> None:
        """Start the timer for the client to read the response."""
        super().pause_writing()
        self._update_timer()

    def resume_writing(self) -> None:
        """Continue to send."""
        super().resume_writing()
        self._update_timer()

    def _update_timer(self) -> None:
        """Start the timer of the phase that the connection is in."""
        if self.flow.write_paused:
            self._enter("answer")
        elif self.transport.is_closing():
            self._enter("")
        else:
            self._enter({h11.IDLE: "head", h11.SEND_BODY: "body"}.get(self.conn.their_state, ""))

    def _enter(self, phase: str) -> None:
        """Start the timer of a phase; data that arrives during the phase does not reset it."""
        if phase == self._phase:
            return
        self._phase, self._since = phase, self.loop.time()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if phase:
            self._timer = self.loop.call_later(self._seconds(phase), self._drop)

    def _seconds(self, phase: str) -> float:
        # A client that sends its body too slowly gets an error from the guard, and has as long again to read
        # it: closing a connection while data arrives would discard the response.
        limits = self.limits
        return {"head": limits.head_seconds, "body": 2 * limits.body_seconds}.get(phase, limits.send_seconds)

    def _drop(self) -> None:
        """Abort the connection, whatever is still to be sent."""
        self._enter("")
        self.connections.discard(self)  # it closes in the next turn of the loop, but no longer counts
        self.transport.abort()


def connection_class(limits: Limits) -> type[LimitedConnection]:
    """Return the class of a server's connections (uvicorn instantiates it)."""
    attributes = {"limits": limits, "max_connections": max_connections(limits.connections)}
    return type("LimitedConnection", (LimitedConnection,), attributes)


def max_connections(wanted: int) -> int:
    """Return how many connections may be open, given the limit on file descriptors (RLIMIT_NOFILE)."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return wanted
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return wanted
    return min(wanted, max(_MIN_CONNECTIONS, (files - _RESERVED_FILES) // 2))


class AcceptErrors:
    """Logs accept errors at most once a minute; asyncio would log each one with a traceback."""

    def __init__(self) -> None:
        self._logged = -_LOG_SECONDS

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Handle an exception of the event loop."""
        error = context.get("exception")
        is_accept = "socket" in context and isinstance(error, OSError) and error.errno in _ACCEPT_ERRORS
        if not is_accept:
            loop.default_exception_handler(context)
        elif time.monotonic() - self._logged >= _LOG_SECONDS:
            self._logged = time.monotonic()
            _log.error("no connection can be accepted now (%s)", error)
