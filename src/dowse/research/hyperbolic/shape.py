"""A tree as arrays: parents, slots, degrees and depths of its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dowse.lazy_classes import dataclass


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree as integer arrays with one entry a node; node 0 is the root, and its own parent."""

    parents: NDArray[np.integer]  # each has a smaller number than its children
    slots: NDArray[np.integer]  # which child of its parent a node is, from 0; 0 for the root
    degrees: NDArray[np.integer]  # how many children a node has
    depths: NDArray[np.integer]  # the number of edges between a node and the root

    def __len__(self) -> int:
        return len(self.parents)

    @property
    def depth(self) -> int:
        """The most edges between a node and the root."""
        return int(self.depths.max())


def tree_from_parents(parents: ArrayLike) -> Tree:
    """Return the tree in which each node has the given parent; children take their slots by node number.

    Raises:
        ValueError: Node 0 is not its own parent, or another node does not come after its parent.
    """
    above = np.asarray(parents)
    if above.ndim != 1 or not len(above):
        raise ValueError("a tree needs one parent a node, and at least its root")
    wrong = np.flatnonzero((above < 0) | (above >= np.maximum(np.arange(len(above)), 1)))
    if len(wrong):
        raise ValueError(
            f"node {wrong[0]} has the parent {above[wrong[0]]}: node 0 must be its own parent, and every "
            "other node must come after its parent"
        )
    above = above.astype(np.int32)
    return Tree(above, _slots(above), _degrees(above), _depths(above))


def tree_from_paths(chains: Iterable[Sequence[str]]) -> tuple[Tree, NDArray[np.int32]]:
    """Return the tree of some chains of names (a trie), and the node at which each chain ends.

    A chain goes from below the root downwards. Equal prefixes are the same nodes.
    """
    known: dict[tuple[int, str], int] = {}
    parents, ends = [0], []
    for chain in chains:
        node = 0
        for name in chain:
            above, node = node, known.setdefault((node, name), len(parents))
            if node == len(parents):
                parents.append(above)
        ends.append(node)
    return tree_from_parents(parents), np.array(ends, np.int32)


def _slots(parents: NDArray[np.int32]) -> NDArray[np.int32]:
    order = 1 + np.argsort(parents[1:], kind="stable")
    above = parents[order]
    slots = np.zeros(len(parents), np.int32)
    slots[order] = np.arange(len(order)) - np.searchsorted(above, above)
    return slots


def _degrees(parents: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.bincount(parents[1:], minlength=len(parents)).astype(np.int32)


def _depths(parents: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the depth of each node by pointer doubling, so that long chains take few rounds."""
    depths, jumps = np.ones(len(parents), np.int32), parents
    depths[0] = 0
    while jumps.any():
        depths, jumps = depths + depths[jumps], jumps[jumps]
    return depths
