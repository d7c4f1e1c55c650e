"""What a process remembers of one generation, so that a warm search need not read it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dowse.types import Symbol, SymbolRow

# Some 20 MB of rows, as much text of files and of symbols: what a day of searching in one repository touches.
_MAX_ROWS = 50_000
_MAX_TEXT_BYTES = 20_000_000


class Memory:
    """Rows, texts and symbols read so far; forgotten all at once when they grow too many."""

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
        """Return rows in the order asked, reading those not seen before."""
        known = self._rows  # threads may replace it while we work with this one
        missing = [row for row in wanted if row not in known]
        if missing:
            if len(known) + len(missing) > _MAX_ROWS:
                known = self._rows = {row: known[row] for row in wanted if row in known}
            known.update((row.row, row) for row in read(missing))
        return [known[row] for row in wanted if row in known]

    def texts(
        self, wanted: set[int], read: Callable[[Sequence[int]], Iterable[tuple[int, bytes]]]
    ) -> dict[int, bytes]:
        """Return the texts of files, reading those not seen before."""
        found = {file_id: text for file_id in wanted if (text := self._texts.get(file_id)) is not None}
        for file_id, text in read([file_id for file_id in wanted if file_id not in found]):
            if self._text_bytes + len(text) > _MAX_TEXT_BYTES:
                self._texts, self._text_bytes = {}, 0
            self._texts[file_id] = found[file_id] = text
            self._text_bytes += len(text)
        return found

    def symbols(
        self,
        wanted: Sequence[SymbolRow],
        show_secrets: bool,
        read: Callable[[Sequence[SymbolRow]], Iterable[Symbol]],
    ) -> list[Symbol]:
        """Return symbols as they are shown, in the order asked, reading those not seen before.

        A whole file stands for a symbol where its row is 0; there is no one symbol to remember for it.
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
