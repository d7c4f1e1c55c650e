"""Embedding of a tree in the Poincaré ball, all edges of one length (Sarkar 2011; De Sa et al. 2018).

The neighbours of a node are placed around it in well separated directions, the first of which leads to its
parent. So a point depends only on its ancestors, their degrees and slots, and every node is placed once: no
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

from dowse.research.hyperbolic.directions import direction_at
from dowse.research.hyperbolic.poincare import (
    Points,
    boundary_gap,
    clip_to_ball,
    distance,
    mobius_add,
    squared_norm,
    with_digits,
)
from dowse.research.hyperbolic.scale import Scale
from dowse.research.hyperbolic.shape import Tree

# Nodes that are placed at once: bounds the memory of a step, and decimals of equal directions are made once.
BATCH = 16_384
# Distance from the origin up to which float64 separates points well.
REACH = 30.0


def embed(tree: Tree, scale: Scale) -> Points:
    """Return the point of every node, (nodes, dimension); the root is the origin."""
    points = _origin(len(tree), scale)
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
    """Return the points of children, given those of their parents and grandparents (of the root: itself).

    `slots` says which child of its parent each is, `degrees` how many children the parent has.
    """
    with _arithmetic(scale):
        frame = _Frame(points, parents_points, scale)
        return frame.placed(_edges(slots, degrees, scale), np.arange(len(points)))


def recenter(points: Points, centre: Points) -> Points:
    """Return points after the translation (an isometry) that moves a centre (dimension,) to the origin."""
    if points.dtype != object:
        return clip_to_ball(mobius_add(-centre, points))
    longest = max(len(value.as_tuple().digits) for value in [*points.flat, *centre.flat])
    with with_digits(longest + 1):
        return _rounded(mobius_add(-centre, points), longest)


def to_floats(points: Points) -> NDArray[np.float64]:
    """Return points as float64.

    If some are too far out for that, the distances of all from the origin are scaled by one factor: their
    order and the directions stay the same.
    """
    if points.dtype != object:
        return points
    origin = np.full(points.shape[-1], decimal.Decimal(0), object)
    far = distance(points, origin)
    near = far * min(1.0, REACH / max(far.max(initial=0.0), REACH))
    floats = points.astype(np.float64)
    length = np.linalg.norm(floats, axis=-1)
    scaled: NDArray[np.float64] = floats * (np.tanh(near / 2) / np.where(length > 0, length, 1))[..., None]
    return scaled


class _Frame:
    """What the children of some nodes share: the isometry from the origin to each node."""

    def __init__(self, points: Points, parents_points: Points, scale: Scale) -> None:
        """Move each node to the origin, and find the reflection that maps the first axis to its parent.

        It is a Householder reflection, with the sign for which nothing cancels. At the root, which has no
        parent, it changes signs only.
        """
        radius: Any = _radius(scale)
        mirror = mobius_add(-points, parents_points) / radius
        self.back = mirror[:, 0] < 0
        mirror[:, 0] += np.where(self.back, -1, 1)
        self.points, self.mirror = points, mirror
        self.scaled = mirror * (2 / squared_norm(mirror))[:, None]
        self.left = boundary_gap(points)[:, None]
        self.least = self.left * (1 - radius * radius)
        self.places = scale.decimal_digits - 1

    def placed(self, edges: Points, which: NDArray[np.intp]) -> Points:
        """Return the ends of edges, given as vectors whose first axis points to the parent of their node.

        The last lines are `mobius_add(node, edge)`, with what all children of a node share computed once.
        """
        across = (self.mirror[which] * edges).sum(axis=1)[:, None] * self.scaled[which]
        turned = across - edges
        back, points = self.back[which], self.points[which]
        turned[back] = -turned[back]
        moved = points + turned
        length = squared_norm(moved)[:, None]
        share = 1 / (length + self.least[which])
        return _rounded((self.left[which] * share) * moved + (length * share) * points, self.places)


def _origin(count: int, scale: Scale) -> Points:
    if not scale.decimal:
        return np.zeros((count, scale.dimension))
    return np.full((count, scale.dimension), decimal.Decimal(0), object)


def _arithmetic(scale: Scale) -> AbstractContextManager[object]:
    return with_digits(scale.decimal_digits) if scale.decimal else nullcontext()


def _batches(depths: NDArray[np.integer]) -> Iterator[NDArray[np.intp]]:
    """Yield the nodes below the root, level by level."""
    order = np.argsort(depths, kind="stable")
    ends = np.cumsum(np.bincount(depths))
    for start, end in pairwise(ends):
        for first in range(start, end, BATCH):
            yield order[first : min(first + BATCH, end)]


def _rounded(points: Points, digits: int) -> Points:
    """Return decimals rounded to so many decimal places.

    Places, not significant digits: rounding errors of a 0 would get ever smaller exponents from level to
    level, until exact sums of such numbers fill the memory.
    """
    if points.dtype != object:
        return points
    unit = decimal.Decimal(1).scaleb(-digits)
    return np.asarray(np.frompyfunc(lambda value: value.quantize(unit), 1, 1)(points))


@lru_cache(maxsize=8)
def _radius(scale: Scale) -> float | decimal.Decimal:
    """Return the norm of a point that is one edge from the origin: tanh(length / 2).

    Called within `_arithmetic(scale)`. Cached: the exponential takes longer than placing a level.
    """
    if not scale.decimal:
        return math.tanh(scale.length / 2)
    grown = decimal.Decimal(scale.length).exp()
    return (grown - 1) / (grown + 1)


def _edges(slots: NDArray[np.integer], degrees: NDArray[np.integer], scale: Scale) -> Points:
    """Return the edges to children of a node at the origin, its parent along the first axis."""
    slots, counts = (
        slots.astype(np.int64) + 1,
        degrees.astype(np.int64) + 1,
    )  # the first direction is the parent's
    radius: Any = _radius(scale)
    if not scale.decimal:
        return direction_at(slots, counts, scale.dimension) * np.float64(radius)
    pairs, which = np.unique(np.stack([slots, counts]), axis=1, return_inverse=True)
    edges: Points = (_exact(direction_at(pairs[0], pairs[1], scale.dimension)) * radius)[which]
    return edges


def _exact(vectors: NDArray[np.float64]) -> Points:
    """Return directions as decimals that are unit vectors to the last digit.

    By stereographic projection: any floats are a direction, and the inverse needs no square root.
    """
    sign = np.where(vectors[:, :1] < 0, -1, 1)
    flat = np.asarray(np.frompyfunc(decimal.Decimal, 1, 1)(vectors[:, 1:] / (1 + sign * vectors[:, :1])))
    length = squared_norm(flat)[:, None]
    exact: Points = np.hstack([sign * (1 - length), 2 * flat]) * (1 / (1 + length))
    return exact
