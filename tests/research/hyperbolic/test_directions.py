"""Directions: unit vectors, the first axis first, and as far apart as is promised."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dowse.research.hyperbolic.directions import direction_at, shell_norm


def directions(count: int, dimension: int) -> np.ndarray:
    return direction_at(np.arange(count), np.full(count, count), dimension)


@pytest.mark.parametrize("dimension", [4, 5, 10])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 33, 600])
def test_they_are_as_far_apart_as_promised(count: int, dimension: int):
    found = directions(count, dimension)
    assert found.shape == (count, dimension)
    assert found[0].tolist() == [1.0, *[0.0] * (dimension - 1)]
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(count))
    if count > 1:
        cosines = (found @ found.T)[np.triu_indices(count, 1)]
        assert np.sqrt((1 - cosines.max()) / 2) >= 1 / np.sqrt(2 * shell_norm(count, dimension)) - 1e-9


@pytest.mark.parametrize("dimension", [4, 5])
def test_shells_hold_as_many_points_as_there_are(dimension: int):
    numbers = range(-4, 5)
    lengths = [sum(x * x for x in point) for point in itertools.product(numbers, repeat=dimension)]
    for count in (1, 8, 9, 40, 41, 81, 100):
        norm = shell_norm(count, dimension)
        assert lengths.count(norm) >= count
        assert all(lengths.count(less) < count for less in range(1, norm))


def test_one_more_child_moves_none_within_a_shell():
    fewer, more = directions(21, 10), directions(180, 10)
    assert shell_norm(21, 10) == shell_norm(180, 10) and (more[:21] == fewer).all()
    assert shell_norm(181, 10) > shell_norm(180, 10)


@pytest.mark.parametrize("dimension", [4, 10])
def test_single_ones_are_those_of_the_whole(dimension: int):
    slots, counts = np.array([0, 3, 2, 30, 6]), np.array([9, 9, 3, 40, 40])
    found = direction_at(slots, counts, dimension)
    for row, slot, count in zip(found, slots, counts, strict=True):
        assert row == pytest.approx(directions(int(count), dimension)[slot])
