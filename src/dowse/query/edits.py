"""Edit distance with transpositions (Damerau 1964, Levenshtein 1966), and the words one edit away."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SEPARATORS = re.compile(r"[\W_]+")


def fold_name(name: str) -> str:
    """Return a name without case and separators: url_for, urlFor and UrlFor are one."""
    return _SEPARATORS.sub("", name).lower()


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
