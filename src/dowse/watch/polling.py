"""File changes by polling: where the system reports no events, a scan every few seconds finds them."""

from __future__ import annotations

import select
import time

from dowse.watch.sources import FileChanges

# The shortest time between two scans.
_MIN_SECONDS = 2.0
# Scans may take one part in so many of the time.
_SHARE = 20


class PollingSource:
    """Asks for a scan every few seconds; more rarely where scans take long."""

    is_exact = False

    def __init__(self, reason: str, min_seconds: float = _MIN_SECONDS) -> None:
        self._reason, self._min_seconds = reason, min_seconds
        self._seconds = min_seconds
        self._read_at: float | None = None
        self._next = 0.0

    @property
    def description(self) -> str:
        """How changes are found, for people."""
        return f"polling every {self._seconds:.0f} s ({self._reason})"

    def add(self, folder: str) -> None:
        """Do nothing: scans find folders."""

    def wait(self, wake: int, seconds: float) -> None:
        """Wait until the next scan is due; the last one is done when this is called again."""
        now = time.monotonic()
        if self._read_at is not None:
            self._seconds = max(self._min_seconds, _SHARE * (now - self._read_at))
            self._next, self._read_at = now + self._seconds, None
        left = max(0.0, self._next - now)
        select.select([wake], [], [], min(left, seconds))

    def read(self) -> FileChanges:
        """Ask for a scan, if one is due."""
        now = time.monotonic()
        if now < self._next:
            return FileChanges()
        self._read_at = now
        return FileChanges(needs_scan=True)

    def close(self) -> None:
        """Nothing is open."""
