"""How often each client asks: a bucket that fills steadily, and that each request takes one from."""

from __future__ import annotations

import time
from collections import OrderedDict

# Clients that are remembered; who was not heard of for longest is forgotten first.
_MOST_CLIENTS = 10_000


class RateLimit:
    """What clients have left. For one thread: that of the event loop."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate, self._burst = rate, float(burst)
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str) -> float:
        """Return 0 if a client may ask now, else in how many seconds it may."""
        if not self._rate:
            return 0.0
        now = time.monotonic()
        left, seen = self._left.pop(client, (self._burst, now))
        left = min(self._burst, left + (now - seen) * self._rate)
        allowed = left >= 1
        self._left[client] = (left - allowed, now)
        if len(self._left) > _MOST_CLIENTS:
            self._left.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self._rate
