"""The exact lane: the lines that match a pattern, by trigram index first, then by the text itself."""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence

from dowse.errors import TooSlow
from dowse.query.regex.matcher import Pattern
from dowse.query.regex.trigrams import required_trigrams
from dowse.search.lanes.exact_types import SymbolLines
from dowse.storage.protocol import Reader
from dowse.types import SymbolRanges, SymbolRow


def exact_lane(
    reader: Reader,
    pattern: Pattern,
    keep_file: Callable[[SymbolRow], bool] | None = None,
    deadline: float = math.inf,
) -> SymbolLines:
    """Return every line of the index that matches; a deadline is a time of `time.monotonic`."""
    files = reader.trigram_candidates(required_trigrams(pattern))
    if keep_file is not None:
        files = [row.file_id for row in reader.file_rows(files) if keep_file(row)]
    lines = {}
    for file_id, text in reader.texts(files):
        if time.monotonic() > deadline:
            raise TooSlow("the pattern took too long; add filters such as path: or lang:, or write it rarer")
        if numbers := pattern.line_numbers(text):
            lines[file_id] = numbers
    symbol_lines: SymbolLines = {}
    for file_id, extents in reader.symbol_ranges(list(lines)):
        assign_to_symbols(file_id, extents, lines[file_id], symbol_lines)
    return symbol_lines


def assign_to_symbols(
    file_id: int, extents: SymbolRanges, numbers: list[int], symbol_lines: SymbolLines
) -> None:
    """Assign each line to the innermost symbol around it."""
    rows, starts, ends = extents
    enclosing: list[int] = []
    for number in numbers:
        index = bisect_right(starts, number) - 1
        while index >= 0 and ends[index] < number:
            enclosing = enclosing or _enclosing(ends)
            index = enclosing[index]
        symbol_lines.setdefault((file_id, rows[index] if index >= 0 else 0), []).append(number)


def _enclosing(ends: Sequence[int]) -> list[int]:
    """Return for each symbol the last one before it that ends later, -1 for none.

    Symbols in between end too early as well, and there may be thousands.
    """
    enclosing: list[int] = []
    stack: list[int] = []
    for index, end in enumerate(ends):
        while stack and ends[stack[-1]] <= end:
            stack.pop()
        enclosing.append(stack[-1] if stack else -1)
        stack.append(index)
    return enclosing
