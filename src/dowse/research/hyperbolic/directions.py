"""Directions that are well apart from each other, one for every neighbour of a node.

In the plane they are equal angles; in space, points of a spiral over the sphere; from four dimensions on, all
points with whole coordinates at one distance from the origin (De Sa et al. take codes, which are corners of
a cube). Two different ones of squared length m differ by √2 at least, so the sine of half the angle between
them is 1/√(2m) or more: a bound that needs no search.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

# Turn from one point of the spiral to the next: the golden angle leaves no point near an earlier one.
GOLDEN = math.pi * (3 - math.sqrt(5))
# Tables of points that are kept; a tree has few different ones, since a table serves a range of degrees.
TABLES = 32


def directions(count: int, dimension: int) -> NDArray[np.float64]:
    """Return so many unit vectors, far from each other; the first is the first axis."""
    return towards(np.arange(count), np.full(count, count), dimension)


def towards(slots: NDArray[np.integer], counts: NDArray[np.integer], dimension: int) -> NDArray[np.float64]:
    """Return for each slot that one of `directions(count, dimension)`."""
    check_dimension(dimension)
    if dimension == 2:
        return _circle(slots, counts)
    if dimension == 3:
        return _spiral(slots, counts)
    different, which = np.unique(counts, return_inverse=True)
    norms = np.array([shell_of(int(count), dimension) for count in different])[which]
    found = np.empty((len(slots), dimension))
    for norm in np.unique(norms):
        chosen = norms == norm
        found[chosen] = _shell(int(norm), dimension)[slots[chosen]]
    return found


def check_dimension(dimension: int) -> None:
    """Refuse a line, and less: however far one looks there, no third direction is found."""
    if dimension < 2:
        raise ValueError(f"a tree has no room in {dimension} dimension(s): take 2 or more")


def half_gap(count: int, dimension: int) -> float:
    """Return the sine of half the least angle between so many directions."""
    check_dimension(dimension)
    if count < 2:
        return 1.0
    if dimension == 2:
        return math.sin(math.pi / count)
    if dimension == 3:  # the second point of the spiral is nearest: its first lies on the pole
        return 1 / math.sqrt(count - 1)
    return 1 / math.sqrt(2 * shell_of(count, dimension))


@lru_cache(maxsize=4096)
def shell_of(count: int, dimension: int) -> int:
    """Return the least squared length m such that so many points with whole coordinates have it.

    Equal m means equal directions: a node whose degree grows within one keeps its children where they are.
    """
    limit = 16
    while True:
        enough = np.flatnonzero(_points_at(limit, dimension)[1:] >= count)
        if len(enough):
            return 1 + int(enough[0])
        limit *= 4


def _circle(slots: NDArray[np.integer], counts: NDArray[np.integer]) -> NDArray[np.float64]:
    angles = 2 * np.pi * slots / counts
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def _spiral(slots: NDArray[np.integer], counts: NDArray[np.integer]) -> NDArray[np.float64]:
    height = 1 - 2 * slots / np.maximum(counts - 1, 1)
    radius, angles = np.sqrt(1 - height * height), GOLDEN * slots
    return np.stack([height, radius * np.cos(angles), radius * np.sin(angles)], axis=-1)


@lru_cache(maxsize=64)
def _points_at(limit: int, dimension: int) -> NDArray[np.int64]:
    """Return how many points with whole coordinates have the squared length 0, 1, … limit."""
    found = np.zeros(limit + 1, np.int64)
    found[0] = 1
    for _ in range(dimension):  # one more coordinate: 0, or ± a number
        fewer = found.copy()
        for number in range(1, math.isqrt(limit) + 1):
            found[number**2 :] += 2 * fewer[: limit + 1 - number**2]
    return found


@lru_cache(maxsize=TABLES)
def _shell(norm: int, dimension: int) -> NDArray[np.float64]:
    """Return the points of one squared length as directions: the first axis, then from far to near it.

    So a node's children go on, away from its parent, as long as there is room: paths down the tree are nearly
    straight and lose little. On real trees that takes a quarter off the mean distortion.
    """
    points = _turned(_whole_points(norm, dimension) / math.sqrt(norm))
    spread = np.arange(len(points)) * GOLDEN % 1  # among equally far ones, any first few come from all sides
    points = points[np.lexsort((spread, points[:, 0].round(9)))]
    return np.roll(points, 1, axis=0)


def _turned(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Reflect points so that the first becomes the first axis."""
    mirror = points[0].copy()
    mirror[0] -= 1
    length = mirror @ mirror
    if length > 0:
        points = points - np.outer(points @ mirror, 2 / length * mirror)
    points[0] = np.eye(1, len(mirror))
    return points


def _whole_points(norm: int, dimension: int) -> NDArray[np.int16]:
    """Return all points with whole coordinates of a squared length, one coordinate after the other."""
    squares = np.zeros(norm + 1, bool)
    squares[np.arange(math.isqrt(norm) + 1) ** 2] = True
    points, left = np.zeros((1, 0), np.int16), np.array([norm])
    for place in range(dimension - 1):
        last = place == dimension - 2  # what is left must then be a square: most that fit are not kept
        parts = []
        for number in range(-math.isqrt(norm), math.isqrt(norm) + 1):
            fits = np.flatnonzero(left >= number**2)
            if last:
                fits = fits[squares[left[fits] - number**2]]
            column = np.full((len(fits), 1), number, np.int16)
            parts.append((np.hstack([points[fits], column]), left[fits] - number**2))
        points, left = np.vstack([part for part, _ in parts]), np.concatenate([rest for _, rest in parts])
    root = np.sqrt(left).round().astype(np.int16)[:, None]
    return np.vstack([np.hstack([points, root]), np.hstack([points, -root])[root[:, 0] > 0]])
