"""How far an evaluation is: a bar for each thing that it does, on a terminal alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dowse.cli.progress import ProgressBar
from dowse.eval.run import Progress


@contextmanager
def progress(quiet: bool = False) -> Iterator[Callable[[Progress], None]]:
    """Give what shows how far a run is; a new bar takes the place of the one before."""
    enabled = not quiet and sys.stderr.isatty()
    bars: dict[str, ProgressBar] = {}

    def clear() -> None:
        for bar in bars.values():
            bar.__exit__(None, None, None)
        bars.clear()

    def show(at: Progress) -> None:
        key = f"{at.doing} {at.what}"
        if key not in bars:
            clear()
            bars[key] = ProgressBar(enabled, at.doing, at.what)
        bars[key].show(at)

    try:
        yield show
    finally:
        clear()
