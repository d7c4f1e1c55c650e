"""Lines of files under the innermost symbols around them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from dowse.types import SymbolRanges

# File id and row of a symbol; lines outside every symbol belong to row 0 of their file.
SymbolLocation = tuple[int, int]
# Numbers of lines, under the innermost symbol around each.
SymbolLines = dict[SymbolLocation, list[int]]


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
