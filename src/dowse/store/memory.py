"""What a process remembers of one generation, so that a warm search need not read it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dowse.types import SymbolRow

# Some 20 MB of rows and as much text: what a day of searching in one repository touches.
_MAX_ROWS = 50_000
_MAX_TEXT_BYTES = 20_000_000


class Memory:
    """Rows and texts read so far; forgotten all at once when they grow too many."""

    def __init__(self) -> None:
        self._rows: dict[int, SymbolRow] = {}
        self._texts: dict[int, bytes] = {}
        self._text_bytes = 0

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
