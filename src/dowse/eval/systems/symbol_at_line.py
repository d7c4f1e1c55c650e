"""From lines of a file to the function or class that they stand in, for tools that know only lines."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass

from dowse.eval.types import SearchResult
from dowse.index import Index
from dowse.types import SymbolRow


@dataclass(frozen=True, slots=True)
class SymbolLines:
    """The symbols of every file by their first lines, outer before inner."""

    rows: dict[int, list[SymbolRow]]
    starts: dict[int, list[int]]

    def at(self, file_id: int, line: int) -> SymbolRow | None:
        """Return the innermost symbol at a line."""
        rows = self.rows.get(file_id, [])
        for at in range(bisect_right(self.starts.get(file_id, []), line) - 1, -1, -1):
            if rows[at].end_line >= line:
                return rows[at]
        return None

    def over(self, file_id: int, start: int, end: int) -> SymbolRow | None:
        """Return the symbol that has most of some lines; of equals the first."""
        found = [row for line in range(start, end + 1) if (row := self.at(file_id, line)) is not None]
        return Counter(found).most_common(1)[0][0] if found else None


def read_symbol_lines(index: Index) -> SymbolLines:
    """Read where the symbols of an index lie."""
    rows: dict[int, list[SymbolRow]] = {}
    with index.backend.reader() as reader:
        for row in reader.rows_of_files([file.file_id for file in reader.files()]):
            rows.setdefault(row.file_id, []).append(row)
    for each in rows.values():
        each.sort(key=lambda row: (row.start_line, -row.end_line))
    return SymbolLines(rows, {file: [row.start_line for row in each] for file, each in rows.items()})


def symbol_result(row: SymbolRow) -> SearchResult:
    """Return a symbol as a result."""
    return SearchResult(row.path, row.qualified_name, row.start_line, row.end_line, row.key, row.repo)
