"""The exact lane: a pattern's lines in the source text, trigrams first, then the text itself."""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence

from dowse.errors import TooSlow
from dowse.query.regex.matcher import Pattern
from dowse.query.regex.trigrams import required_trigrams
from dowse.search.lanes.places import Lines
from dowse.storage.protocol import Reader
from dowse.types import SymbolRanges, SymbolRow


def exact_lane(
    reader: Reader,
    pattern: Pattern,
    keep_file: Callable[[SymbolRow], bool] | None = None,
    deadline: float = math.inf,
) -> Lines:
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
    found: Lines = {}
    for file_id, extents in reader.symbol_ranges(list(lines)):
        _distribute(file_id, extents, lines[file_id], found)
    return found


def _distribute(file_id: int, extents: SymbolRanges, numbers: list[int], found: Lines) -> None:
    """Give each line to the smallest symbol around it."""
    rows, starts, ends = extents
    longer: list[int] = []
    for number in numbers:
        at = bisect_right(starts, number) - 1
        while at >= 0 and ends[at] < number:
            longer = longer or _longer_before(ends)
            at = longer[at]
        found.setdefault((file_id, rows[at] if at >= 0 else 0), []).append(number)


def _longer_before(ends: Sequence[int]) -> list[int]:
    """For each symbol, the last one before it that ends later, -1 for none.

    Symbols in between end too early as well, and there may be thousands.
    """
    longer: list[int] = []
    around: list[int] = []
    for index, end in enumerate(ends):
        while around and ends[around[-1]] <= end:
            around.pop()
        longer.append(around[-1] if around else -1)
        around.append(index)
    return longer
