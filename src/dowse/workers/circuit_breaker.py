"""A circuit breaker for worker processes that keep dying."""

from __future__ import annotations

import time


class CircuitBreaker:
    """Refuses to start processes for a while after several deaths in a row.

    After that time one more is tried: if it dies too, the breaker opens again, for twice as long each time
    up to `max_open_seconds`.
    """

    def __init__(self, max_deaths: int, open_seconds: float, max_open_seconds: float = 0.0) -> None:
        self._max_deaths, self._open_seconds = max_deaths, open_seconds
        self._max_open_seconds = max(open_seconds, max_open_seconds)
        self._deaths = 0  # since the last success
        self._open_until = 0.0

    def record_success(self) -> None:
        """Count from the start again."""
        self._deaths = 0

    def record_death(self) -> None:
        """Count a death; open if there were too many."""
        self._deaths += 1
        excess = self._deaths - self._max_deaths
        if excess >= 0:
            seconds = min(self._open_seconds * 2 ** min(excess, 30), self._max_open_seconds)
            self._open_until = time.monotonic() + seconds

    @property
    def remaining_seconds(self) -> float:
        """How long it stays open; 0 if it is closed."""
        return max(0.0, self._open_until - time.monotonic())
