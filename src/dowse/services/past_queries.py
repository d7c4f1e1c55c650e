"""Questions that were asked before, in memory: suggestions must not wait for a file."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.errors import DowseError
from dowse.index import Index

# Questions that are remembered, those with most choices first.
_MOST = 2_000


class Questions:
    """The questions of one index for which something was chosen, and how often."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._asked: Sequence[tuple[str, int]] = ()

    def at_hand(self) -> Sequence[tuple[str, int]]:
        """Return what was read last."""
        return self._asked

    def refresh(self) -> None:
        """Read them again, after a choice was recorded or forgotten."""
        counts: dict[str, int] = {}
        try:
            for count in self._index.feedback.counts(limit=_MOST):
                counts[count.query] = counts.get(count.query, 0) + count.chosen
        except DowseError:  # then there is nothing to suggest; who asks for feedback itself is told
            counts = {}
        self._asked = [(query, chosen) for query, chosen in counts.items() if chosen]
