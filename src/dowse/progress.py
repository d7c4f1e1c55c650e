"""A progress bar on standard error: one line, rewritten a few times a second, in a terminal or a notebook."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

from dowse.security.terminal import escape_name

if TYPE_CHECKING:
    from dowse.workers.child import Progress

_WIDTH = 30
_INTERVAL = 0.1


class StatusLine:
    """A line in a terminal that is rewritten a few times a second, and removed at the end."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._enabled = not quiet and (sys.stderr.isatty() or _is_notebook())
        self._started, self._shown = time.monotonic(), 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _is_due(self, now: float, is_last: bool) -> bool:
        """Return whether to rewrite the line: a few times a second, and for the last update."""
        if not self._enabled or (now - self._shown < _INTERVAL and not is_last):
            return False
        self._shown = now
        return True


class ProgressBar(StatusLine):
    """Shows the share that is done and the estimated time left."""

    def __init__(self, activity: str = "indexing", unit: str = "files", *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self._activity, self._unit = escape_name(activity), escape_name(unit)

    def show(self, progress: Progress) -> None:
        """Draw the bar, at most a few times a second."""
        now = time.monotonic()
        if not self._is_due(now, progress.done >= progress.total):
            return
        share = progress.done / max(1, progress.total)
        bar = "█" * round(share * _WIDTH)
        left = (now - self._started) * (1 - share) / share if share else 0.0
        sys.stderr.write(
            f"\r{self._activity} {bar:░<{_WIDTH}} {progress.done:,}/{progress.total:,} {self._unit},"
            f" {left:.0f} s left\x1b[K"
        )
        sys.stderr.flush()


def _is_notebook() -> bool:
    """Whether standard error is the output of a notebook's cell, which rewrites lines as terminals do."""
    return type(sys.stderr).__module__ == "ipykernel.iostream"
