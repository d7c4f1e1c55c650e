"""The symbols of an index that a branch changed, for a question about them alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dowse.history.log import Hunk
    from dowse.storage.protocol import Reader


def changed_rows(reader: Reader, hunks: Mapping[str, Sequence[Hunk]]) -> tuple[int, ...]:
    """Return the rows of symbols whose own text has a changed line; a class has not that of its methods."""
    files = {file.file_id: file.path for file in reader.files() if file.path in hunks}
    rows = [row for row in reader.rows_of_files(list(files)) if row.row]
    return tuple(
        row.row
        for row, symbol in zip(rows, reader.symbols(rows), strict=True)
        if _is_changed(frozenset(symbol.line_numbers), hunks[files[row.file_id]])
    )


def _is_changed(lines: frozenset[int], hunks: Sequence[Hunk]) -> bool:
    for hunk in hunks:
        if not hunk.lines and {hunk.start, hunk.start + 1} <= lines:  # lines between these two were deleted
            return True
        if any(line in lines for line in range(hunk.start, hunk.start + hunk.lines)):
            return True
    return False
