"""What a process remembers of one generation of a cluster, so that a warm search asks as little as it can."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from dowse.storage.elastic.state import Snapshot
from dowse.storage.local.cache import ReadCache
from dowse.types import Span, SymbolRow

# Details hold documentation, a few hundred bytes each; words and their frequencies take less.
_MOST_DETAILS = 10_000
_MOST_COUNTS = 100_000
# Generations kept: that of the newest reader, and that of one which is still at work.
_GENERATIONS = 2


class Details(NamedTuple):
    """What a symbol has besides its row."""

    doc: str
    spans: tuple[Span, ...]
    doc_spans: tuple[Span, ...]
    content_hash: str


class Bearing(NamedTuple):
    """By which name a symbol can be meant."""

    name_key: str  # "" for none
    overrides: bool  # whether its name may be that of a class defined elsewhere


class Memory(ReadCache):
    """Rows, texts, details and frequencies of one generation; none of them ever changes."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[tuple[str, str], int] = {}  # in how many symbols: by field and term
        self.details: dict[int, Details] = {}
        self.bearings: dict[int, Bearing] = {}
        self.languages: dict[str, int] | None = None
        self.embedded: dict[str, int] = {}  # only where every symbol has its vector

    def keep_rows(self, found: Iterable[tuple[SymbolRow, Bearing]]) -> None:
        """Remember rows that a search has brought along."""
        rows = {row.row: (row, bearing) for row, bearing in found}
        kept = self.rows(list(rows), lambda missing: (rows[row][0] for row in missing))
        if len(self.bearings) + len(kept) > _MOST_COUNTS:
            self.bearings = {}
        self.bearings.update((row, bearing) for row, (_, bearing) in rows.items())

    def keep_details(self, found: Mapping[int, Details]) -> None:
        """Remember details."""
        if len(self.details) + len(found) > _MOST_DETAILS:
            self.details = {}
        self.details.update(found)

    def keep_counts(self, found: Mapping[tuple[str, str], int]) -> None:
        """Remember in how many symbols terms are."""
        if len(self.counts) + len(found) > _MOST_COUNTS:
            self.counts = {}
        self.counts.update(found)


class Memories:
    """The memories of the generations that a backend has lately read."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Any, ...], Memory] = {}

    def of(self, snapshot: Snapshot) -> Memory:
        """Return what is known of a generation."""
        key = (snapshot.identity, snapshot.generation)
        known = self._kept.get(key)
        if known is None:
            newest = list(self._kept.items())[-(_GENERATIONS - 1) :]
            known = Memory()
            self._kept = {**dict(newest), key: known}
        return known

    def clear(self) -> None:
        """Forget everything."""
        self._kept = {}
