"""In-memory cache of one generation, so that a warm search reads nothing twice."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Generic, TypeVar

from dowse.types import Symbol, SymbolRow

K = TypeVar("K")
V = TypeVar("V")

# Some 20 MB each of rows, texts of files and symbols: what a day of searching in one repository touches.
_MAX_ROWS = 50_000
_MAX_TEXT_BYTES = 20_000_000
_MAX_FREQUENCIES = 50_000


class BoundedCache(Generic[K, V]):
    """Entries read so far; cleared when full. Thread-safe: entries never change."""

    def __init__(self, limit: int, weight: Callable[[V], int] = lambda _: 1) -> None:
        self._entries: dict[K, V] = {}
        self._size, self._limit, self._weight = 0, limit, weight

    def get(
        self, keys: Collection[K], read: Callable[[list[K]], Iterable[tuple[K, V]]] = lambda _: ()
    ) -> dict[K, V]:
        """Return the entries of some keys; those not in the cache are read, perhaps with others."""
        entries = self._entries  # another thread may replace it meanwhile
        known = {key: entries[key] for key in keys if key in entries}
        missing = [] if len(known) == len(keys) else [key for key in dict.fromkeys(keys) if key not in known]
        if missing:
            new = dict(read(missing))
            self.add(new)
            known |= new
        return known

    def get_one(self, key: K, read: Callable[[], V]) -> V:
        """Return the entry of one key, which is read if it is not in the cache."""
        found = self._entries.get(key)
        if found is None:
            found = read()
            self.add({key: found})
        return found

    def add(self, new: Mapping[K, V]) -> None:
        """Add entries."""
        for key, value in new.items():
            if key not in self._entries:
                self._size += self._weight(value)
                if self._size > self._limit:
                    self._entries, self._size = {}, self._weight(value)
                self._entries[key] = value


class ReadCache:
    """Rows, texts, symbols and document frequencies of one generation."""

    def __init__(self) -> None:
        self.rows = BoundedCache[int, SymbolRow](_MAX_ROWS)
        self.texts = BoundedCache[int, bytes](_MAX_TEXT_BYTES, len)
        # By row, or negative file id of a whole file.
        self.symbols = BoundedCache[tuple[int, int], Symbol](
            _MAX_TEXT_BYTES, lambda symbol: len(symbol.code) + len(symbol.doc)
        )
        self.frequencies = BoundedCache[tuple[str, str], int](_MAX_FREQUENCIES)  # by field and term
        self.derived: dict[str, Any] = {}  # what research has computed, by its own names
