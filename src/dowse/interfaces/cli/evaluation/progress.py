"""Progress of an evaluation: a bar for each activity; without a terminal, a line at its start."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dowse.eval.run import Progress
from dowse.interfaces.cli.common import print_message
from dowse.interfaces.cli.progress import ProgressBar

# Activities that can take long before the first other output.
_LONG_ACTIVITIES = ("indexing", "embedding")


@contextmanager
def progress(quiet: bool = False) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows progress; each activity replaces the bar of the one before."""
    terminal = sys.stderr.isatty()
    enabled = not quiet and terminal
    bars: dict[str, ProgressBar] = {}

    def clear() -> None:
        for bar in bars.values():
            bar.__exit__(None, None, None)
        bars.clear()

    def show(at: Progress) -> None:
        key = f"{at.doing} {at.what}"
        if key not in bars:
            clear()
            if at.doing in _LONG_ACTIVITIES and not quiet and not terminal:
                print_message(f"{at.doing} {at.total:,} {at.what}" if at.total else at.doing)
            bars[key] = ProgressBar(enabled, at.doing, at.what)
        bars[key].show(at)

    try:
        yield show
    finally:
        clear()
