"""A limit on repeated log messages: what clients cause must not fill a disk."""

from __future__ import annotations

import logging
import threading
import time

# So many messages of one kind are logged in such a time.
_COUNT, _SECONDS = 5, 60.0
_LOGGERS = ("dowse.interfaces.http", "dowse.interfaces.mcp", "dowse.services.web", "asyncio", "uvicorn.error")


class RepeatLimit(logging.Filter):
    """Drops messages of which too many came in the last minute; the next one says how many were dropped.

    Messages are of one kind if the same line of code logs them, for the same type of exception.
    """

    def __init__(self, count: int = _COUNT, seconds: float = _SECONDS) -> None:
        super().__init__()
        self._count, self._seconds = count, seconds
        self._lock = threading.Lock()
        self._kinds: dict[tuple[str, int, object], tuple[float, int]] = {}  # since when, and how many

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a message is logged."""
        error = record.exc_info[0] if record.exc_info else None
        kind, now = (record.pathname, record.lineno, error), time.monotonic()
        with self._lock:
            since, count = self._kinds.get(kind, (now, 0))
            dropped = 0
            if now - since >= self._seconds:
                since, count, dropped = now, 0, max(0, count - self._count)
            self._kinds[kind] = (since, count + 1)
        if dropped:
            record.msg = f"{record.msg} (and {dropped} more like it before)"
        return count < self._count


def limit_logs() -> None:
    """Limit the repeated messages of servers."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(each, RepeatLimit) for each in logger.filters):
            logger.addFilter(RepeatLimit())
