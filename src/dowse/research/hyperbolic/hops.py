"""Path lengths in a tree: the number of edges (hops) between two nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dowse.research.hyperbolic.shape import Tree


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


def hop_matrix(chains: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """Return the number of edges between the ends of each two chains of names, without building a tree.

    A chain goes from below the root downwards; equal prefixes are the same nodes.
    """
    lengths = np.array([len(chain) for chain in chains], np.float64)
    found: NDArray[np.float64] = np.add.outer(lengths, lengths)
    for level in _levels(chains):
        found -= 2.0 * (level[:, None] == level)
    np.fill_diagonal(found, 0)  # a chain equals itself below its end, too
    return found


def _levels(chains: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """Return (levels, chains): a number for each prefix of a chain, equal for equal prefixes."""
    known: dict[tuple[int, str], int] = {}
    levels = max(map(len, chains), default=0)
    rows = []
    for row, chain in enumerate(chains):
        node, numbers = 0, []
        for name in chain:
            node = known.setdefault((node, name), len(known) + 1)
            numbers.append(node)
        rows.append(numbers + [-1 - row] * (levels - len(numbers)))
    return np.array(rows, np.int64).reshape(len(chains), levels).T
