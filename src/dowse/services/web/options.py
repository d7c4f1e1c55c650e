"""The options of an HTTP server, and its limits with their reasons."""

from __future__ import annotations

import ipaddress
from pathlib import Path

from dowse.lazy_classes import dataclass, field

# Printed by servers that ask for no token.
WITHOUT_TOKEN = "without a token: every user and program of this machine may read the code"  # noqa: S105


@dataclass(frozen=True, slots=True)
class Limits:
    """What one client, and all clients together, may demand of a server."""

    # A search waits for its lanes most of the time; more threads than this only wait for each other.
    threads: int = 8
    # Of requests that may take seconds, so that quick ones never wait for them.
    slow_threads: int = 4
    # Requests that may wait for a thread: as many as there are connections. What would wait for half of the
    # time limit is refused before.
    waiting: int = 512
    seconds: float = 20.0  # time limit of a request, waiting included
    pattern_seconds: float = 10.0  # time limit for reading texts in a search by phrase or regex
    body_bytes: int = 64 * 1024  # of a request: the largest is one feedback event
    target_bytes: int = 64 * 1024  # of a request's URL: a query of 10,000 characters, and filters
    listeners: int = 64  # open streams of server-sent events
    connections: int = 512  # open connections; the requests of more are refused (503)
    # Time limits of a client: to send the head of its first request, or to begin the next; to send a body.
    head_seconds: float = 10.0
    body_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options of one server."""

    host: str = "127.0.0.1"
    port: int = 8742
    token: str = ""  # the bearer token that the API requires; "" requires none
    show_token: bool = True  # whether the address that is printed has the token in it
    opening_code: str = ""  # stands for the token in the address that a browser is started with
    allow_origins: tuple[str, ...] = ()  # other origins (https://host:port) whose pages may send requests
    reports: tuple[Path, ...] = ()  # folders with reports of `dowse eval --report`
    feedback: bool = True  # whether feedback is recorded and affects rankings
    watch: bool = False  # whether changed files are indexed when they change, not when somebody searches
    log_queries: bool = False  # whether the log of requests has what was searched for
    limits: Limits = field(default_factory=Limits)


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine alone."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False
