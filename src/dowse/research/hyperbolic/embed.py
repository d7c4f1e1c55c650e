"""A tree as points of the Poincaré ball, its edges all of one length (Sarkar 2011; De Sa et al. 2018).

A node's children lie around it, in the directions that its neighbours share, the first of which leads to its
parent. So a point depends on its ancestors, their degrees and slots alone, and every node is placed once: no
training. The formulas are sums, products and quotients, the same for float64 and for decimals.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dowse.research.hyperbolic.directions import towards
from dowse.research.hyperbolic.poincare import Points, add, distance, inside, room, squared, with_digits
from dowse.research.hyperbolic.scale import Scale
from dowse.research.hyperbolic.shape import Tree

# Nodes that are placed at once: it bounds what a step needs beside the points, and decimals for equal ways
# are made once.
BATCH = 16_384
# How far from the origin float64 still tells points apart well.
REACH = 30.0


def embed(tree: Tree, scale: Scale) -> Points:
    """Return the point of every node, (nodes, dimension); the root is the origin."""
    points = origin(len(tree), scale)
    with _arithmetic(scale):
        for nodes in _batches(tree.depths):
            above, which = np.unique(tree.parents[nodes], return_inverse=True)
            frame = _Frame(points[above], points[tree.parents[above]], scale)
            edges = _edges(tree.slots[nodes], tree.degrees[above][which], scale)
            points[nodes] = frame.placed(edges, which)
    return points


def place_children(
    points: Points,
    parents_points: Points,
    slots: NDArray[np.integer],
    degrees: NDArray[np.integer],
    scale: Scale,
) -> Points:
    """Return where children go.

    Args:
        points: The node above each child, (children, dimension).
        parents_points: The parent of that node; for the root its own point.
        slots: Which of the node's children each is, from 0.
        degrees: How many children the node has.
        scale: As that of the points.
    """
    with _arithmetic(scale):
        frame = _Frame(points, parents_points, scale)
        return frame.placed(_edges(slots, degrees, scale), np.arange(len(points)))


def seen_from(points: Points, centre: Points) -> Points:
    """Return points moved, with all distances kept, such that a centre (dimension,) becomes the origin."""
    if points.dtype != object:
        return inside(add(-centre, points))
    longest = max(len(value.as_tuple().digits) for value in [*points.flat, *centre.flat])
    with with_digits(longest + 1):
        return _rounded(add(-centre, points), longest)


def as_floats(points: Points) -> NDArray[np.float64]:
    """Return points as float64.

    Where some lie too far out for that, all are drawn towards the origin, by one factor of their distance
    from it: what is farther stays farther, and lies in the same direction.
    """
    if points.dtype != object:
        return points
    origin = np.full(points.shape[-1], decimal.Decimal(0), object)
    far = distance(points, origin)
    near = far * min(1.0, REACH / max(far.max(initial=0.0), REACH))
    floats = points.astype(np.float64)
    length = np.linalg.norm(floats, axis=-1)
    found: NDArray[np.float64] = floats * (np.tanh(near / 2) / np.where(length > 0, length, 1))[..., None]
    return found


class _Frame:
    """What the children of some nodes share: how a node sees its neighbours, and the way back."""

    def __init__(self, points: Points, parents_points: Points, scale: Scale) -> None:
        """Move each node to the origin, look where its parent then is, and find the mirror that turns there.

        The mirror is Householder's, with the sign for which nothing cancels. At the root, which has no
        parent, it leaves all but signs as they are.
        """
        radius: Any = _radius(scale)
        mirror = add(-points, parents_points) / radius
        self.back = mirror[:, 0] < 0
        mirror[:, 0] += np.where(self.back, -1, 1)
        self.points, self.mirror = points, mirror
        self.scaled = mirror * (2 / squared(mirror))[:, None]
        self.left = room(points)[:, None]
        self.least = self.left * (1 - radius * radius)
        self.places = scale.decimal_digits - 1

    def placed(self, edges: Points, which: NDArray[np.intp]) -> Points:
        """Return where edges end that take the first axis to lead to the parent of their node.

        What is written out at the end is `add(node, edge)`; what all children of a node share is found once.
        """
        across = (self.mirror[which] * edges).sum(axis=1)[:, None] * self.scaled[which]
        turned = across - edges
        back, points = self.back[which], self.points[which]
        turned[back] = -turned[back]
        moved = points + turned
        length = squared(moved)[:, None]
        share = 1 / (length + self.least[which])
        return _rounded((self.left[which] * share) * moved + (length * share) * points, self.places)


def origin(count: int, scale: Scale) -> Points:
    """Return the origin so many times, in the numbers of a scale."""
    if not scale.decimal:
        return np.zeros((count, scale.dimension))
    return np.full((count, scale.dimension), decimal.Decimal(0), object)


def _arithmetic(scale: Scale) -> AbstractContextManager[object]:
    return with_digits(scale.decimal_digits) if scale.decimal else nullcontext()


def _batches(depths: NDArray[np.int32]) -> Iterator[NDArray[np.intp]]:
    """Yield the nodes below the root, those of one level after those of the level above."""
    order = np.argsort(depths, kind="stable")
    ends = np.cumsum(np.bincount(depths))
    for start, end in pairwise(ends):
        for first in range(start, end, BATCH):
            yield order[first : min(first + BATCH, end)]


def _rounded(points: Points, places: int) -> Points:
    """Return decimals cut to so many places.

    Not digits: what should be 0 is a little beside it, and in the next level a little of that, so exponents
    would grow until exact sums of such numbers fill the memory.
    """
    if points.dtype != object:
        return points
    unit = decimal.Decimal(1).scaleb(-places)
    return np.asarray(np.frompyfunc(lambda value: value.quantize(unit), 1, 1)(points))


@lru_cache(maxsize=8)
def _radius(scale: Scale) -> float | decimal.Decimal:
    """Return how far from the origin a point lies that is one edge away: tanh(length / 2).

    Called within `_arithmetic(scale)`. Kept, for the exponential takes longer than to place a level.
    """
    if not scale.decimal:
        return math.tanh(scale.length / 2)
    grown = decimal.Decimal(scale.length).exp()
    return (grown - 1) / (grown + 1)


def _edges(slots: NDArray[np.integer], degrees: NDArray[np.integer], scale: Scale) -> Points:
    """Return the edges to children as seen from their node at the origin, its parent along the first axis."""
    slots, counts = slots.astype(np.int64) + 1, degrees.astype(np.int64) + 1  # the first way is the parent's
    radius: Any = _radius(scale)
    if not scale.decimal:
        return towards(slots, counts, scale.dimension) * np.float64(radius)
    pairs, which = np.unique(np.stack([slots, counts]), axis=1, return_inverse=True)
    found: Points = (_exact(towards(pairs[0], pairs[1], scale.dimension)) * radius)[which]
    return found


def _exact(ways: NDArray[np.float64]) -> Points:
    """Return directions as decimals that are unit vectors to the last digit.

    Seen from a pole (stereographic projection), any float is a direction, and the way back needs no root.
    """
    sign = np.where(ways[:, :1] < 0, -1, 1)
    flat = np.asarray(np.frompyfunc(decimal.Decimal, 1, 1)(ways[:, 1:] / (1 + sign * ways[:, :1])))
    length = squared(flat)[:, None]
    found: Points = np.hstack([sign * (1 - length), 2 * flat]) * (1 / (1 + length))
    return found
