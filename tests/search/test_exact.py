"""Which symbol a matching line belongs to."""

from __future__ import annotations

import random

from dowse.storage.symbol_lines import assign_to_symbols


class Counted(list):
    """A list that counts how often it is read."""

    reads = 0

    def __getitem__(self, index):
        self.reads += 1
        return super().__getitem__(index)


def smallest_around(starts: list[int], ends: list[int], number: int) -> int:
    """The index of the last symbol that starts before a line and ends after it, by trying all."""
    fitting = [i for i in range(len(starts)) if starts[i] <= number <= ends[i]]
    return fitting[-1] if fitting else -1


def test_lines_after_many_small_symbols_are_not_compared_with_each():
    count = 5_000
    starts = [1, *range(2, count + 2)]
    ends = Counted([3 * count, *range(2, count + 2)])
    numbers = list(range(count + 2, 3 * count))
    found = {}
    assign_to_symbols(7, (list(range(10, 10 + len(starts))), starts, ends), numbers, found)
    assert found == {(7, 10): numbers}
    assert ends.reads < 10 * (len(starts) + len(numbers))


def test_each_line_goes_to_the_smallest_symbol_around_it():
    chance = random.Random(3)
    for _ in range(200):
        spans = sorted((a, a + chance.randrange(12)) for a in (chance.randrange(1, 40) for _ in range(12)))
        starts, ends = [a for a, _ in spans], [b for _, b in spans]
        found = {}
        assign_to_symbols(1, (list(range(1, 13)), starts, ends), list(range(1, 55)), found)
        for number in range(1, 55):
            assert number in found[1, smallest_around(starts, ends, number) + 1]
