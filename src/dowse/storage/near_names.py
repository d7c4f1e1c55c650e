"""Names within an edit distance of another, without case and separators.

Of `distance` + 1 pieces of a name, so many edits leave one as it is: names that hold a piece are compared.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from dowse import deadline
from dowse.query.edits import edit_distance, fold_names

if TYPE_CHECKING:
    from dowse.types import SymbolRow

# Symbols that are compared with one name.
MAX_NEAR = 2_000
# Folding all names takes as long as so many scans of them by patterns: a command does fewer.
SCANS = 8


class FoldedNames:
    """The distinct names of a generation, folded and joined by length, so that one search finds a piece.

    SQLite matches a pattern against each name in turn, which takes thirty times as long.
    """

    def __init__(self, names: Iterable[tuple[int, str]]) -> None:
        """Take (row, name) of all symbols and names."""
        distinct = {name: row for row, name in names}
        folded: defaultdict[int, list[str]] = defaultdict(list)
        # By length, in the order of the joined names.
        self._rows: defaultdict[int, array[int]] = defaultdict(partial(array, "q"))
        for plain, row in zip(fold_names(distinct), distinct.values(), strict=True):
            folded[len(plain)].append(plain)
            self._rows[len(plain)].append(row)
        self._joined = {length: "".join(each) for length, each in folded.items()}

    def near(self, wanted: str, distance: int) -> list[int]:
        """Return one row for each name within an edit distance of a folded one, which is longer than that."""
        found: list[int] = []
        parts = _unchanged_pieces(wanted, distance)
        for length in range(max(1, len(wanted) - distance), len(wanted) + distance + 1):
            deadline.check()
            joined, rows = self._joined.get(length, ""), self._rows.get(length, ())
            for place in {at // length for part in parts for at in _occurrences(joined, part)}:
                name = joined[place * length : (place + 1) * length]
                if edit_distance(name, wanted, distance) <= distance:
                    found.append(rows[place])
        return found


def rows_by_pattern(
    lookup: Callable[[str, int], list[SymbolRow]], wanted: str, distance: int
) -> list[SymbolRow]:
    """Return the symbols whose names match a pattern."""
    found: list[SymbolRow] = []
    for pattern in _patterns(wanted, distance):
        deadline.check()
        found += lookup(pattern, MAX_NEAR)
    return found


def matches_pattern(name: str, wanted: str, distance: int) -> bool:
    """Whether a name matches a pattern: one that begins or ends with a separator may be another."""
    return any(fnmatchcase(name.lower(), pattern) for pattern in _patterns(wanted, distance))


def _patterns(wanted: str, distance: int) -> list[str]:
    """Return the patterns of names that hold the letters of a piece in order, at its place."""
    size = -(-len(wanted) // (distance + 1))
    parts = [wanted[start : start + size] for start in range(0, len(wanted), size)]
    last = len(parts) - 1
    return [
        f"{'*' if place else ''}{'*'.join(piece)}{'*' if place < last else ''}"
        for place, piece in enumerate(parts)
    ]


def _unchanged_pieces(wanted: str, distance: int) -> set[str]:
    """Return the pieces of which each near name has one; letters on both sides of a bound may be swapped."""
    count = distance + 1
    bounds = [len(wanted) * place // count for place in range(count + 1)]
    forms = [wanted]
    for bound in bounds[1:-1]:
        forms += [f"{s[: bound - 1]}{s[bound]}{s[bound - 1]}{s[bound + 1 :]}" for s in forms]
    return {form[start:end] for form in forms for start, end in pairwise(bounds)}


def _occurrences(text: str, piece: str) -> Iterator[int]:
    """Yield where a piece begins, also across the bounds of names: those are compared and found different."""
    at = text.find(piece)
    while at >= 0:
        yield at
        at = text.find(piece, at + 1)
