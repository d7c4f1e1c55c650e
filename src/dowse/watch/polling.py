"""News by time alone: where the system can't tell what changed, a scan does, every few seconds."""

from __future__ import annotations

import select
import time

from dowse.watch.sources import News

# Scans at most so often.
_LEAST_SECONDS = 2.0
# A scan may take one part in so many of the time.
_SHARE = 20


class Polling:
    """Says every few seconds that something may have changed; more rarely where scans take long."""

    is_exact = False

    def __init__(self, why: str, least_seconds: float = _LEAST_SECONDS) -> None:
        self._why, self._least = why, least_seconds
        self._seconds = least_seconds
        self._read_at: float | None = None
        self._next = 0.0

    @property
    def words(self) -> str:
        """How changes are seen, for people."""
        return f"looking every {self._seconds:.0f} s ({self._why})"

    def add(self, folder: str) -> None:
        """Do nothing: scans find folders."""

    def wait(self, wake: int, seconds: float) -> None:
        """Wait for the next scan; who waits again has done the last one."""
        now = time.monotonic()
        if self._read_at is not None:
            self._seconds = max(self._least, _SHARE * (now - self._read_at))
            self._next, self._read_at = now + self._seconds, None
        left = max(0.0, self._next - now)
        select.select([wake], [], [], min(left, seconds))

    def read(self) -> News:
        """Return that a scan is due, if it is."""
        now = time.monotonic()
        if now < self._next:
            return News()
        self._read_at = now
        return News(lost=True)

    def close(self) -> None:
        """Nothing is open."""
