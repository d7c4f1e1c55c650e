"""Well separated directions (a spherical code), one for every neighbour of a node.

They are all integer points at one distance from the origin, in four dimensions or more (De Sa et al. 2018
take corners of a cube). Two different ones of squared length m differ by √2 at least, so the sine of half the
angle between them is 1/√(2m) or more: a bound that needs no search.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

# The golden angle: its multiples keep away from earlier ones.
GOLDEN = math.pi * (3 - math.sqrt(5))
# Size of the LRU cache of point tables; a tree has few different ones: a table serves a range of degrees.
TABLES = 32


def direction_at(
    slots: NDArray[np.integer], counts: NDArray[np.integer], dimension: int
) -> NDArray[np.float64]:
    """Return, for each slot, that one of so many unit vectors; the first is the first axis."""
    different, which = np.unique(counts, return_inverse=True)
    norms = np.array([shell_norm(int(count), dimension) for count in different])[which]
    vectors = np.empty((len(slots), dimension))
    for norm in np.unique(norms):
        chosen = norms == norm
        vectors[chosen] = _shell(int(norm), dimension)[slots[chosen]]
    return vectors


@lru_cache(maxsize=4096)
def shell_norm(count: int, dimension: int) -> int:
    """Return the smallest squared length m that so many integer points have.

    Equal m means equal directions: while m stays the same, a node that gets children moves none.
    """
    limit = 16
    while True:
        enough = np.flatnonzero(_points_at(limit, dimension)[1:] >= count)
        if len(enough):
            return 1 + int(enough[0])
        limit *= 4


@lru_cache(maxsize=64)
def _points_at(limit: int, dimension: int) -> NDArray[np.int64]:
    """Return how many integer points have the squared length 0, 1, … limit."""
    counts = np.zeros(limit + 1, np.int64)
    counts[0] = 1
    for _ in range(dimension):  # one more coordinate: 0, or ± a number
        fewer = counts.copy()
        for number in range(1, math.isqrt(limit) + 1):
            counts[number**2 :] += 2 * fewer[: limit + 1 - number**2]
    return counts


@lru_cache(maxsize=TABLES)
def _shell(norm: int, dimension: int) -> NDArray[np.float64]:
    """Return the integer points of a squared length as directions: the first axis, then from far to near it.

    So the first children of a node are opposite to its parent: paths down the tree are nearly straight and
    lose little. On real trees that takes a quarter off the mean distortion.
    """
    points = _reflect(_integer_points(norm, dimension) / math.sqrt(norm))
    spread = np.arange(len(points)) * GOLDEN % 1  # among equally far ones, the first few come from all sides
    points = points[np.lexsort((spread, points[:, 0].round(9)))]
    return np.roll(points, 1, axis=0)


def _reflect(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Reflect points (Householder) so that the first becomes the first axis."""
    mirror = points[0].copy()
    mirror[0] -= 1
    length = mirror @ mirror
    if length > 0:
        points = points - np.outer(points @ mirror, 2 / length * mirror)
    points[0] = np.eye(1, len(mirror))
    return points


def _integer_points(norm: int, dimension: int) -> NDArray[np.int16]:
    """Return all integer points of a squared length, built coordinate by coordinate."""
    squares = np.zeros(norm + 1, bool)
    squares[np.arange(math.isqrt(norm) + 1) ** 2] = True
    points, left = np.zeros((1, 0), np.int16), np.array([norm])
    for axis in range(dimension - 1):
        last = axis == dimension - 2  # the remainder must then be a square: most candidates are dropped
        parts = []
        for number in range(-math.isqrt(norm), math.isqrt(norm) + 1):
            fits = np.flatnonzero(left >= number**2)
            if last:
                fits = fits[squares[left[fits] - number**2]]
            column = np.full((len(fits), 1), number, np.int16)
            parts.append((np.hstack([points[fits], column]), left[fits] - number**2))
        points, left = (
            np.vstack([part for part, _ in parts]),
            np.concatenate([remainder for _, remainder in parts]),
        )
    root = np.sqrt(left).round().astype(np.int16)[:, None]
    return np.vstack([np.hstack([points, root]), np.hstack([points, -root])[root[:, 0] > 0]])
