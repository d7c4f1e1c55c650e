"""The exact lane: a pattern's lines in the source text, trigrams first, then the text itself."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from dowse.backends.protocol import Reader
from dowse.query import Pattern, required_trigrams
from dowse.types import LineMatch, SymbolRow


@dataclass(frozen=True, slots=True)
class ExactHit:
    """A symbol and the lines of it that match."""

    row: SymbolRow
    matches: tuple[LineMatch, ...]


def exact_lane(
    reader: Reader, pattern: Pattern, keep_file: Callable[[SymbolRow], bool] | None = None
) -> list[ExactHit]:
    """Return every line of the index that matches, each under the innermost symbol around it."""
    files = reader.exact_candidates(required_trigrams(pattern))
    if keep_file is not None:
        files = [row.file_id for row in reader.file_rows(files) if keep_file(row)]
    lines: dict[int, list[LineMatch]] = {}
    for file_id, text in reader.texts(files):
        found = pattern.find_lines(text)
        if found:
            lines[file_id] = found
    return [
        ExactHit(row, matches)
        for file_id, rows in _symbols_by_file(reader, list(lines))
        for row, matches in _distribute(rows, lines[file_id])
    ]


def _symbols_by_file(reader: Reader, file_ids: list[int]) -> Iterator[tuple[int, list[SymbolRow]]]:
    """Give the symbols of each file, after a stand-in for the file itself: some lines lie in no symbol."""
    symbols = {row.file_id: [row] for row in reader.file_rows(file_ids)}
    for row in reader.rows_of_files(file_ids):
        symbols[row.file_id].append(row)
    yield from symbols.items()


def _distribute(
    rows: list[SymbolRow], matches: Iterable[LineMatch]
) -> Iterator[tuple[SymbolRow, tuple[LineMatch, ...]]]:
    """Give each line to the smallest symbol around it; `rows` are sorted by start, outer before inner."""
    starts = [row.start_line for row in rows]
    taken: dict[int, list[LineMatch]] = {}
    for match in matches:
        at = bisect_right(starts, match.line) - 1
        while rows[at].end_line < match.line and at:  # the whole file, at 0, is around every line
            at -= 1
        taken.setdefault(at, []).append(match)
    for at in sorted(taken):
        yield rows[at], tuple(taken[at])
