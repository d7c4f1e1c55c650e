"""Rate limiting: one token bucket for each client."""

from __future__ import annotations

import time
from collections import OrderedDict

# Clients with a bucket; beyond that, the least recently seen one is dropped.
_MAX_CLIENTS = 10_000


class TokenBuckets:
    """Token buckets by client address. Not thread-safe: used by the event loop alone."""

    def __init__(self, rate: float, burst: int) -> None:
        """Add `rate` tokens a second to each bucket, up to `burst`; a rate of 0 sets no limit."""
        self._rate, self._burst = rate, float(burst)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, and when that was

    def retry_after(self, client: str) -> float:
        """Take a token and return 0, or return the seconds until the client has one."""
        if not self._rate:
            return 0.0
        now = time.monotonic()
        tokens, seen = self._buckets.pop(client, (self._burst, now))
        tokens = min(self._burst, tokens + (now - seen) * self._rate)
        allowed = tokens >= 1
        self._buckets[client] = (tokens - allowed, now)
        if len(self._buckets) > _MAX_CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - tokens) / self._rate
