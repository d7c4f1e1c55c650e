"""How the exact lane speaks of what it found (apart from it, so that the engine can wait to load RE2)."""

from __future__ import annotations

# A symbol's file and row; lines outside every symbol belong to row 0 of their file.
Place = tuple[int, int]
# The numbers of the lines that match, under the innermost symbol around each.
Lines = dict[Place, list[int]]
