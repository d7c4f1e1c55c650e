"""Edit distance with transpositions (Damerau 1964, Levenshtein 1966), and the words one edit away."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SEPARATORS = re.compile(r"[\W_]+")
# The same, for names with a NUL between them: no name has one.
_SEPARATORS_OF_MANY = re.compile(r"(?:[^\w\0]|_)+")


def fold_name(name: str) -> str:
    """Return a name without case and separators: url_for, urlFor and UrlFor are one."""
    return _SEPARATORS.sub("", name).lower()


def fold_names(names: Collection[str]) -> list[str]:
    """Return what `fold_name` returns of each name, at once for all where none has a NUL."""
    folded = _SEPARATORS_OF_MANY.sub("", "\0".join(names)).lower().split("\0")
    return folded if len(folded) == len(names) else [fold_name(name) for name in names]


def edit_distance(one: str, other: str, limit: int) -> int:
    """Return the number of insertions, deletions, substitutions and transpositions of neighbours.

    Stops above the limit, and returns limit + 1 then.
    """
    if abs(len(one) - len(other)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, char in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, target in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (char != target))
            if i > 1 and j > 1 and char == other[j - 2] and target == one[i - 2]:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return min(row[-1], limit + 1)


def one_edit_away(word: str) -> Iterator[str]:
    """Yield the words one edit away (Norvig 2007), transpositions first.

    The first letter changes by a transposition only: people hardly ever mistype it, and short words have too
    many neighbours.
    """
    pairs = [(word[:cut], word[cut:]) for cut in range(len(word) + 1)]
    yield from (left + right[1] + right[0] + right[2:] for left, right in pairs if len(right) > 1)
    if len(word) < 4:
        return
    for left, right in pairs[1:]:
        if right:
            yield left + right[1:]
            yield from (left + letter + right[1:] for letter in _LETTERS)
        yield from (left + letter + right for letter in _LETTERS)
