"""How a server behaves: what `dowse serve` takes, and limits with their reasons."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """All that can be chosen of a server."""

    host: str = "127.0.0.1"
    port: int = 8742
    token: str = ""  # what every request to the API must bring; "" asks for none
    allow_origins: tuple[str, ...] = ()  # other origins (https://host:port) whose pages may ask
    reports: tuple[Path, ...] = ()  # folders with reports of `dowse eval --report`
    feedback: bool = True  # whether choices are recorded, and count
    watch: bool = False  # whether changes of files are taken in when they happen, not when somebody searches
    limits: Limits = field(default_factory=lambda: Limits())

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.host)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one client, and all together, may ask of a server."""

    # A search waits for lanes most of the time; more threads than this only wait for each other.
    threads: int = 8
    # Requests that may wait for a thread. At some 50 a second the last of them waits for two seconds or so.
    waiting: int = 128
    seconds: float = 20.0  # that a request may take, waiting included
    pattern_seconds: float = 10.0  # that a search by pattern may read texts for
    body_bytes: int = 64 * 1024  # of a request: the largest is one event of feedback
    target_bytes: int = 64 * 1024  # of a request's address: a query of 10,000 characters, and filters
    # Requests a second that one address may send, and how many at once after a pause; 0 sets no limit.
    rate: float = 200.0
    burst: int = 400
    listeners: int = 64  # open streams of events
    # Open connections, fewer where the process may not open so many files; then who keeps the server waiting
    # longest is dropped.
    connections: int = 512
    # That a client may take: to send a request's head, from when it is connected or was last answered; to
    # send its body; to read each piece of an answer.
    head_seconds: float = 10.0
    body_seconds: float = 10.0
    send_seconds: float = 30.0


def is_loopback(host: str) -> bool:
    """Whether a name or address means this machine alone."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False
