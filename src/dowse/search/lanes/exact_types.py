"""What the exact lane returns; apart from the lane, so that the pipeline need not load RE2."""

from __future__ import annotations

# File id and row of a symbol; lines outside every symbol belong to row 0 of their file.
SymbolLocation = tuple[int, int]
# The numbers of the lines that match, under the innermost symbol around each.
SymbolLines = dict[SymbolLocation, list[int]]
