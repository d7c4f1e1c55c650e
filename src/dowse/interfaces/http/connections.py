"""Limits on connections: clients that send or read too slowly, and more of them than there are files for.

uvicorn limits neither how long a request may take to arrive nor how many connections are open. A few hundred
half-sent requests (a slowloris attack) would then take every file that the process may open, and nobody else
would be answered.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from dowse.interfaces.http.options import Limits

# Connections accepted in one turn of the event loop. asyncio accepts as many before any of them is counted;
# a few turns may pass until then.
ACCEPT_AT_ONCE = 16
# Files that the rest of the process needs at least: indexes, lanes, connections that are being closed.
_OTHER_FILES = 64
# Even a process that may open hardly any files answers so many.
_LEAST_CONNECTIONS = 8
# How often it is logged that there are no files left.
_LOG_SECONDS = 60.0
_log = logging.getLogger("dowse.interfaces.http")


class LimitedConnection(H11Protocol):
    """A connection that ends when its client keeps the server waiting for too long.

    When there are too many, the one whose client keeps the server waiting longest makes room for a new one;
    one whose request is being worked on, or that a stream of events runs on, never does.
    """

    limits = Limits()
    most = 0  # open connections

    def __init__(self, *arguments: Any, **more: Any) -> None:  # noqa: ANN401 - as of the base class
        super().__init__(*arguments, **more)
        self._phase = ""  # what the client is waited for
        self._since = 0.0  # when that began
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count a connection, and wait for its first request."""
        super().connection_made(transport)
        # Every byte that the client does not take pauses writing: then it is known since when.
        transport.set_write_buffer_limits(high=0)
        self._look()
        if len(self.connections) > self.most:
            others = [each for each in self.connections if isinstance(each, LimitedConnection)]
            waiting = [each for each in others if each._phase and each is not self]
            min(waiting, key=lambda each: each._since, default=self)._drop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._wait_for("")
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what the client sent."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Wait for the next request, or for the rest of one that is answered already."""
        super().on_response_complete()
        self._look()

    def pause_writing(self) -> None:
        """Wait until the client takes what was sent."""
        super().pause_writing()
        self._look()

    def resume_writing(self) -> None:
        """Go on sending."""
        super().resume_writing()
        self._look()

    def _look(self) -> None:
        """See what the client is waited for."""
        if self.flow.write_paused:
            self._wait_for("answer")
        elif self.transport.is_closing():
            self._wait_for("")
        else:
            self._wait_for({h11.IDLE: "head", h11.SEND_BODY: "body"}.get(self.conn.their_state, ""))

    def _wait_for(self, phase: str) -> None:
        """Start the clock of a phase; what comes during it does not set it back."""
        if phase == self._phase:
            return
        self._phase, self._since = phase, self.loop.time()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if phase:
            self._timer = self.loop.call_later(self._seconds(phase), self._drop)

    def _seconds(self, phase: str) -> float:
        # Who sends a body too slowly is told so by the guard, and has as long again to read that: what is
        # closed while something arrives takes the answer with it.
        limits = self.limits
        return {"head": limits.head_seconds, "body": 2 * limits.body_seconds}.get(phase, limits.send_seconds)

    def _drop(self) -> None:
        """End the connection at once, whatever is still to be sent."""
        self._wait_for("")
        self.connections.discard(self)  # it is closed in the next turn of the loop, but makes room now
        self.transport.abort()


def limited(limits: Limits) -> type[LimitedConnection]:
    """Return the class of a server's connections."""
    chosen = {"limits": limits, "most": most_connections(limits.connections)}
    return type("LimitedConnection", (LimitedConnection,), chosen)


def most_connections(wanted: int) -> int:
    """Return how many connections may be open: what is wanted, if the process may open so many files."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return wanted
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return wanted
    return min(wanted, max(_LEAST_CONNECTIONS, (files - _OTHER_FILES) // 2))


class AcceptErrors:
    """Logs once in a while that connections can't be accepted: asyncio would each time, with a traceback."""

    def __init__(self) -> None:
        self._logged = -_LOG_SECONDS

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Handle an error that nobody else does."""
        if "accept()" not in context.get("message", ""):
            loop.default_exception_handler(context)
        elif time.monotonic() - self._logged >= _LOG_SECONDS:
            self._logged = time.monotonic()
            _log.error("no connection can be accepted now (%s)", context.get("exception"))
