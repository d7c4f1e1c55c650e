"""The symbols of an index, as evaluations need them: all of them, and by line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from dowse.eval.types import SearchResult
from dowse.index import Index
from dowse.types import SymbolRow

# Files whose symbols are held at once.
_BATCH = 5_000


def iter_symbols(index: Index) -> Iterator[SymbolRow]:
    """Give every symbol, some files at a time."""
    with index.backend.reader() as reader:
        ids = [file.file_id for file in reader.files()]
        for start in range(0, len(ids), _BATCH):
            yield from reader.rows_of_files(ids[start : start + _BATCH])


class SymbolLines:
    """The symbols of an index by file and line, outer before inner, for tools that know only lines."""

    def __init__(self, index: Index) -> None:
        self._rows: dict[int, list[SymbolRow]] = {}
        for row in iter_symbols(index):
            self._rows.setdefault(row.file_id, []).append(row)
        for rows in self._rows.values():
            rows.sort(key=lambda row: (row.start_line, -row.end_line))
        self._starts = {file: [row.start_line for row in rows] for file, rows in self._rows.items()}

    def at(self, file_id: int, line: int) -> SymbolRow | None:
        """Return the innermost symbol at a line."""
        rows = self._rows.get(file_id, [])
        for number in range(bisect_right(self._starts.get(file_id, []), line) - 1, -1, -1):
            if rows[number].end_line >= line:
                return rows[number]
        return None


def symbol_result(row: SymbolRow) -> SearchResult:
    """Return a symbol as a result."""
    return SearchResult(row.path, row.qualified_name, row.start_line, row.end_line, row.key, row.repo)
