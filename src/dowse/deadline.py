"""The deadline of one query, and whether anybody still waits for its answer.

Whoever runs a query sets it; loops that may take long check it, however deep below: a context variable saves
every function between them a parameter. Without one there is no limit.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator
from contextvars import ContextVar

from dowse.errors import Cancelled, TooSlow

# Share of the time after which no step begins that an answer can do without: the others need the rest.
_OPTIONAL_SHARE = 0.75


class Deadline:
    """When the work on a query has to end; thread-safe."""

    def __init__(self, seconds: float = math.inf, outer: Deadline | None = None) -> None:
        """Begin now; one within another ends, and is cancelled, no later than that."""
        now = time.monotonic()
        self._seconds, self._outer, self._is_cancelled = seconds, outer, False
        self.until = now + seconds
        self.optional_until = now + _OPTIONAL_SHARE * seconds
        if outer is not None and outer.until < self.until:
            self._seconds, self.until, self.optional_until = outer._seconds, outer.until, outer.optional_until

    def cancel(self) -> None:
        """Have the work end at its next check: nobody waits for the answer."""
        self._is_cancelled = True

    @property
    def is_cancelled(self) -> bool:
        """Whether nobody waits for the answer."""
        return self._is_cancelled or (self._outer is not None and self._outer.is_cancelled)

    def check_cancelled(self) -> None:
        """Raise Cancelled if nobody waits for the answer."""
        if self.is_cancelled:
            raise Cancelled("the call was cancelled")

    def check(self) -> None:
        """Raise Cancelled or TooSlow if the work has to end."""
        self.check_cancelled()
        if time.monotonic() >= self.until:
            raise TooSlow(
                f"no answer within {self._seconds:.3g} s; ask for less, e.g. filter by path or language"
            )


_UNLIMITED = Deadline()
_current: ContextVar[Deadline] = ContextVar("deadline", default=_UNLIMITED)


def current() -> Deadline:
    """Return the deadline of the current query, which may be none."""
    return _current.get()


@contextlib.contextmanager
def within(deadline: Deadline) -> Iterator[None]:
    """Have everything that this thread does meanwhile end by a deadline."""
    token = _current.set(deadline)
    try:
        yield
    finally:
        _current.reset(token)


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Limit the time of what this thread does meanwhile; a deadline that is sooner stays."""
    with within(Deadline(seconds, _current.get())):
        yield


def check() -> None:
    """Raise Cancelled or TooSlow if the current query has to end."""
    _current.get().check()


def check_cancelled() -> None:
    """Raise Cancelled if nobody waits for the answer of the current query."""
    _current.get().check_cancelled()


def is_late() -> bool:
    """Whether the current query has time left only for what its answer can't do without."""
    return time.monotonic() >= _current.get().optional_until


def optional_until(seconds: float = math.inf) -> float:
    """Return the time of `time.monotonic` at which optional work ends, so many seconds from now at most."""
    return min(time.monotonic() + seconds, _current.get().optional_until)


def seconds_left(seconds: float) -> float:
    """Return how long a step of the current query may take, so many seconds at most."""
    return max(0.0, min(seconds, _current.get().until - time.monotonic()))
