"""In-memory cache of one generation, so that a warm search reads nothing twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dowse.types import Symbol, SymbolRow

# Some 20 MB each of rows, texts of files and symbols: what a day of searching in one repository touches.
_MAX_ROWS = 50_000
_MAX_TEXT_BYTES = 20_000_000


class ReadCache:
    """Rows, texts and symbols read so far; cleared when full. Thread-safe: entries never change."""

    def __init__(self) -> None:
        self._rows: dict[int, SymbolRow] = {}
        self._texts: dict[int, bytes] = {}
        self._text_bytes = 0
        self._symbols: dict[tuple[int, bool], Symbol] = {}
        self._symbol_characters = 0
        self.derived: dict[str, Any] = {}  # what research has computed, by its own names

    def rows(
        self, wanted: Sequence[int], read: Callable[[Sequence[int]], Iterable[SymbolRow]]
    ) -> list[SymbolRow]:
        """Return rows in the given order; those not in the cache are read."""
        known = self._rows  # another thread may replace it meanwhile
        missing = [row for row in wanted if row not in known]
        if missing:
            if len(known) + len(missing) > _MAX_ROWS:
                known = self._rows = {row: known[row] for row in wanted if row in known}
            known.update((row.row, row) for row in read(missing))
        return [known[row] for row in wanted if row in known]

    def texts(
        self, wanted: set[int], read: Callable[[Sequence[int]], Iterable[tuple[int, bytes]]]
    ) -> dict[int, bytes]:
        """Return the texts of files; those not in the cache are read."""
        texts = {file_id: text for file_id in wanted if (text := self._texts.get(file_id)) is not None}
        for file_id, text in read([file_id for file_id in wanted if file_id not in texts]):
            if self._text_bytes + len(text) > _MAX_TEXT_BYTES:
                self._texts, self._text_bytes = {}, 0
            self._texts[file_id] = texts[file_id] = text
            self._text_bytes += len(text)
        return texts

    def symbols(
        self,
        wanted: Sequence[SymbolRow],
        show_secrets: bool,
        read: Callable[[Sequence[SymbolRow]], Iterable[Symbol]],
    ) -> list[Symbol]:
        """Return symbols with their text, in the given order; those not in the cache are read.

        A row of 0 stands for a whole file and is not cached.
        """
        known = [self._symbols.get((row.row, show_secrets)) for row in wanted]
        missing = [at for at, symbol in enumerate(known) if symbol is None]
        if missing:
            for at, symbol in zip(missing, read([wanted[at] for at in missing]), strict=True):
                known[at] = symbol
                if wanted[at].row:
                    self._remember(wanted[at].row, show_secrets, symbol)
        return [symbol for symbol in known if symbol is not None]

    def _remember(self, row: int, show_secrets: bool, symbol: Symbol) -> None:
        characters = len(symbol.code) + len(symbol.doc)
        if self._symbol_characters + characters > _MAX_TEXT_BYTES:
            self._symbols, self._symbol_characters = {}, 0
        self._symbols[row, show_secrets] = symbol
        self._symbol_characters += characters
