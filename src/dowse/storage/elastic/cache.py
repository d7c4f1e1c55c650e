"""In-memory cache of one generation of a cluster, so that a warm search makes few requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeVar

from dowse.storage.local.cache import ReadCache
from dowse.storage.symbols import SymbolDetails
from dowse.types import SymbolRow

K = TypeVar("K")
V = TypeVar("V")

# Details hold documentation, a few hundred bytes each; terms and their frequencies take less.
_MAX_DETAILS = 10_000
_MAX_COUNTS = 100_000


class NameKey(NamedTuple):
    """The bare name that references may call a symbol by."""

    key: str  # "" for none
    overrides: bool  # whether its name may be that of a class defined elsewhere


class GenerationCache(ReadCache):
    """Rows, texts, details and frequencies of one generation, which never change."""

    def __init__(self) -> None:
        super().__init__()
        self.document_frequencies: dict[tuple[str, str], int] = {}  # by field and term
        self.details: dict[int, SymbolDetails] = {}
        self.name_keys: dict[int, NameKey] = {}
        self.languages: dict[str, int] | None = None
        self.embedded: dict[str, int] = {}  # only where every symbol has its vector

    def add_rows(self, found: Iterable[tuple[SymbolRow, NameKey]]) -> None:
        """Add rows that a search has brought along."""
        rows = {row.row: (row, name_key) for row, name_key in found}
        self.rows(list(rows), lambda missing: (rows[row][0] for row in missing))
        name_keys = {row: name_key for row, (_, name_key) in rows.items()}
        self.name_keys = _extended(self.name_keys, name_keys, _MAX_COUNTS)

    def add_details(self, found: Mapping[int, SymbolDetails]) -> None:
        """Add details of symbols."""
        self.details = _extended(self.details, found, _MAX_DETAILS)

    def add_document_frequencies(self, found: Mapping[tuple[str, str], int]) -> None:
        """Add document frequencies."""
        self.document_frequencies = _extended(self.document_frequencies, found, _MAX_COUNTS)


def _extended(known: dict[K, V], found: Mapping[K, V], limit: int) -> dict[K, V]:
    """Return the known values with those found; all known ones are evicted where that would be too many."""
    if len(known) + len(found) > limit:
        known = {}
    known.update(found)
    return known
