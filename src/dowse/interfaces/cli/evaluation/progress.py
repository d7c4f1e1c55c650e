"""Progress of an evaluation: a bar for each activity; without a terminal, a line at its start."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from dowse.eval.run import Progress
from dowse.interfaces.cli.common import print_message
from dowse.interfaces.cli.progress import ProgressBar

# Activities that can take long before the first other output.
_LONG_ACTIVITIES = ("indexing", "embedding")


@contextmanager
def progress(quiet: bool = False) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows progress; each activity replaces the bar of the one before."""
    bars: dict[str, ProgressBar] = {}  # one at most
    with ExitStack() as stack:

        def show(at: Progress) -> None:
            key = f"{at.doing} {at.what}"
            if key not in bars:
                stack.close()
                bars.clear()
                if at.doing in _LONG_ACTIVITIES and not quiet and not sys.stderr.isatty():
                    print_message(f"{at.doing} {at.total:,} {at.what}" if at.total else at.doing)
                bars[key] = stack.enter_context(ProgressBar(at.doing, at.what, quiet=quiet))
            bars[key].show(at)

        yield show
