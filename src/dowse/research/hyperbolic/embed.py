"""Embedding of a tree in the Poincaré ball, all edges of one length (Sarkar 2011; De Sa et al. 2018).

The neighbours of a node are placed around it in well separated directions, the first of which leads to its
parent. So a point depends only on its ancestors, their degrees and slots, and every node is placed once: no
training.

Long edges preserve the tree's distances. But a point at the distance r from the origin is 2e^−r from the
boundary, so each edge on the path from the root costs length / ln 2 bits of a coordinate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dowse.research.hyperbolic.directions import direction_at
from dowse.research.hyperbolic.poincare import (
    Points,
    boundary_gap,
    clip_to_ball,
    mobius_add,
    squared_norm,
)
from dowse.research.hyperbolic.shape import Tree

# Nodes that are placed at once: bounds the memory of a step.
BATCH = 16_384
# Bits of a coordinate that edges may use: distances between the farthest points are then right to a few per
# cent.
_EDGE_BITS = 47


def edge_length(depth: int) -> float:
    """Return the longest edge that float64 carries for a tree of some depth.

    The depth counts as the next even number, so that trees of nearly the same depth get the same.
    """
    return _EDGE_BITS * math.log(2) / max(2, depth + depth % 2)


def embed(tree: Tree, length: float, dimension: int) -> Points:
    """Return the point of every node, (nodes, dimension), for edges of a length; the root is the origin."""
    points = np.zeros((len(tree), dimension))
    for nodes in _batches(tree.depths):
        above, which = np.unique(tree.parents[nodes], return_inverse=True)
        frame = _Frame(points[above], points[tree.parents[above]], length)
        points[nodes] = frame.placed(tree.slots[nodes], tree.degrees[above][which], which)
    return points


def place_children(
    points: Points,
    parents_points: Points,
    slots: NDArray[np.integer],
    degrees: NDArray[np.integer],
    length: float,
) -> Points:
    """Return the points of children, given those of their parents and grandparents (of the root: itself).

    `slots` says which child of its parent each is, `degrees` how many children the parent has.
    """
    return _Frame(points, parents_points, length).placed(slots, degrees, np.arange(len(points)))


def recenter(points: Points, centre: Points) -> Points:
    """Return points after the translation (an isometry) that moves a centre (dimension,) to the origin."""
    return clip_to_ball(mobius_add(-centre, points))


class _Frame:
    """What the children of some nodes share: the isometry from the origin to each node."""

    def __init__(self, points: Points, parents_points: Points, length: float) -> None:
        """Move each node to the origin, and find the reflection that maps the first axis to its parent.

        It is a Householder reflection, with the sign for which nothing cancels. At the root, which has no
        parent, it changes signs only.
        """
        self.radius = math.tanh(length / 2)  # the norm of a point that is one edge from the origin
        mirror = mobius_add(-points, parents_points) / self.radius
        self.back = mirror[:, 0] < 0
        mirror[:, 0] += np.where(self.back, -1, 1)
        self.points, self.mirror = points, mirror
        self.scaled = mirror * (2 / squared_norm(mirror))[:, None]
        self.left = boundary_gap(points)[:, None]
        self.least = self.left * (1 - self.radius * self.radius)

    def placed(
        self, slots: NDArray[np.integer], degrees: NDArray[np.integer], which: NDArray[np.intp]
    ) -> Points:
        """Return the points of children; `which` says which node each is a child of.

        The last lines are `mobius_add(node, edge)`, with what all children of a node share computed once.
        """
        # The first direction, along the first axis, is the parent's.
        numbers, counts = slots.astype(np.int64) + 1, degrees.astype(np.int64) + 1
        edges = direction_at(numbers, counts, self.points.shape[1]) * self.radius
        across = (self.mirror[which] * edges).sum(axis=1)[:, None] * self.scaled[which]
        turned = across - edges
        back, points = self.back[which], self.points[which]
        turned[back] = -turned[back]
        moved = points + turned
        length = squared_norm(moved)[:, None]
        share = 1 / (length + self.least[which])
        placed: Points = (self.left[which] * share) * moved + (length * share) * points
        return placed


def _batches(depths: NDArray[np.integer]) -> Iterator[NDArray[np.intp]]:
    """Yield the nodes below the root, level by level."""
    order = np.argsort(depths, kind="stable")
    ends = np.cumsum(np.bincount(depths))
    for start, end in pairwise(ends):
        for first in range(start, end, BATCH):
            yield order[first : min(first + BATCH, end)]
