"""A progress bar on standard error: one line, rewritten a few times a second."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Protocol, Self

from dowse.security.terminal import escape_name

_WIDTH = 30
_INTERVAL = 0.1


class Progress(Protocol):
    """How far something is."""

    @property
    def done(self) -> int:
        """What is behind."""

    @property
    def total(self) -> int:
        """What there is in all."""


class StatusLine:
    """A line that is rewritten now and then, and gone at the end."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._started, self._shown = time.monotonic(), 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _is_due(self, now: float, is_last: bool) -> bool:
        """Whether to write: not if that was a moment ago, unless nothing follows."""
        if not self._enabled or (now - self._shown < _INTERVAL and not is_last):
            return False
        self._shown = now
        return True


class ProgressBar(StatusLine):
    """Shows how much is done and about how long the rest takes."""

    def __init__(self, enabled: bool, doing: str = "indexing", what: str = "files") -> None:
        super().__init__(enabled)
        self._doing, self._what = escape_name(doing), escape_name(what)

    def show(self, progress: Progress) -> None:
        """Draw the bar, unless it was drawn a moment ago."""
        now = time.monotonic()
        if not self._is_due(now, progress.done >= progress.total):
            return
        share = progress.done / max(1, progress.total)
        bar = "█" * round(share * _WIDTH)
        left = (now - self._started) * (1 - share) / share if share else 0.0
        sys.stderr.write(
            f"\r{self._doing} {bar:░<{_WIDTH}} {progress.done:,}/{progress.total:,} {self._what},"
            f" {left:.0f} s left\x1b[K"
        )
        sys.stderr.flush()
