"""Past queries in memory: suggestions must not wait for a file."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.errors import DowseError
from dowse.index import Index

# Feedback counts that are read, most chosen first.
_MAX_COUNTS = 2_000


class PastQueries:
    """The queries of one index that have feedback, and how often a hit of theirs was chosen."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._counts: Sequence[tuple[str, int]] = ()

    def cached(self) -> Sequence[tuple[str, int]]:
        """Return what was read last."""
        return self._counts

    def refresh(self) -> None:
        """Read them again, after feedback was recorded or deleted."""
        counts: dict[str, int] = {}
        try:
            for count in self._index.feedback.counts(limit=_MAX_COUNTS):
                counts[count.query] = counts.get(count.query, 0) + count.chosen
        except DowseError:  # then there is nothing to suggest; requests for feedback itself report the error
            counts = {}
        self._counts = [(query, chosen) for query, chosen in counts.items() if chosen]
