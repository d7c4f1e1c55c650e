"""Quality of a tree embedding: distortion and mean average precision (De Sa et al., ICML 2018)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dowse.research.hyperbolic.poincare import Points, distance
from dowse.research.hyperbolic.scale import Scale
from dowse.research.hyperbolic.shape import Tree

# Default sample sizes: pairs for the distortion, nodes for the mean average precision.
PAIRS = 20_000
# Points that are compared with a node at once.
BATCH = 65_536


@dataclass(frozen=True, slots=True)
class Distortion:
    """How distances between points, in edges, compare with the numbers of edges between nodes.

    Attributes:
        pairs: How many pairs were compared.
        mean: Mean of |ratio − 1|.
        worst: The largest ratio over the smallest; 1 is perfect.
        shortest: The smallest ratio.
        longest: The largest ratio.
    """

    pairs: int
    mean: float
    worst: float
    shortest: float
    longest: float


def distortion(tree: Tree, points: Points, scale: Scale, pairs: int = PAIRS, seed: int = 0) -> Distortion:
    """Compare distances over all pairs of nodes, or over a sample where they are more than `pairs`.

    A sample rarely has two children of one node, where distances are shortest: so as many pairs of siblings
    are added for the extremes, not for the mean.
    """
    drawn, siblings = _pairs(tree, pairs, seed)
    if not drawn.size:
        return Distortion(0, 0.0, 1.0, 1.0, 1.0)
    ratios, with_siblings = (
        distance(points[chosen[0]], points[chosen[1]]) / (scale.length * hops(tree, *chosen))
        for chosen in (drawn, np.hstack([drawn, siblings]))
    )
    shortest, longest = float(with_siblings.min()), float(with_siblings.max())
    return Distortion(
        drawn.shape[1],
        float(np.abs(ratios - 1).mean()),
        longest / shortest if shortest else float("inf"),
        shortest,
        longest,
    )


def hops(tree: Tree, first: ArrayLike, second: ArrayLike) -> NDArray[np.int64]:
    """Return the number of edges between each of some nodes and its partner; arrays of any equal shape."""
    a, b = (np.array(nodes, np.int64) for nodes in np.broadcast_arrays(first, second))
    shape, a, b = a.shape, a.ravel(), b.ravel()
    found, left = np.zeros(a.size, np.int64), np.flatnonzero(a != b)
    while left.size:  # the deeper of two climbs; both do where they are equally deep
        below = tree.depths[a[left]].astype(np.int64) - tree.depths[b[left]]
        for nodes, climbs in ((a, left[below >= 0]), (b, left[below <= 0])):
            nodes[climbs] = tree.parents[nodes[climbs]]
            found[climbs] += 1
        left = left[a[left] != b[left]]
    return found.reshape(shape)


def _pairs(tree: Tree, pairs: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return pairs of different nodes and pairs of siblings, each (2, count)."""
    count = len(tree)
    if count * (count - 1) // 2 <= pairs:
        return np.array(np.triu_indices(count, 1)), np.empty((2, 0), np.int64)
    generator = np.random.default_rng(seed)
    drawn = generator.integers(0, count, (2, pairs))
    return _different(drawn), _different(_siblings(tree, generator.integers(1, count, pairs), generator))


def _siblings(tree: Tree, nodes: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
    """Return nodes with a sibling each: the next slot, whose angle is smallest in the plane, or any."""
    below = np.argsort(tree.parents[1:], kind="stable") + 1
    parents = tree.parents[nodes]
    starts, degrees = (np.cumsum(tree.degrees) - tree.degrees)[parents], tree.degrees[parents]
    ahead = np.where(generator.random(len(nodes)) < 0.5, 1, generator.integers(0, degrees))
    return np.array([nodes, below[starts + (tree.slots[nodes] + ahead) % degrees]])


def _different(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    return pairs[:, pairs[0] != pairs[1]]
