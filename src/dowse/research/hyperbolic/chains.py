"""Chains of names: the path of a file or symbol in the repository tree, from below the root, and hops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.types import SymbolRow

# Levels of the tree that are embedded: deeper folders and files share the point of their ancestor at this
# depth. Coordinates need more digits with each level: down to this one, float64 has them.
MAX_DEPTH = 31


def file_chain(repo: str, path: str) -> tuple[str, ...]:
    """Return the chain of a file: repository, folders, file."""
    return (repo, *path.split("/"))


def symbol_chain(row: SymbolRow) -> tuple[str, ...]:
    """Return the chain of a symbol: that of its file, and the symbol itself."""
    return (*file_chain(row.repo, row.path), row.key)


def common_prefix(chains: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the longest common prefix: the deepest node that holds all ends."""
    if not chains:
        return ()
    low, high = min(chains), max(chains)  # what these two share, all between them share too
    same = next((n for n, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    return low[:same]


def hop_matrix(chains: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """Return the number of edges between the ends of each two chains of names, without building a tree.

    A chain goes from below the root downwards; equal prefixes are the same nodes.
    """
    import numpy as np

    lengths = np.array([len(chain) for chain in chains], np.float64)
    hops: NDArray[np.float64] = np.add.outer(lengths, lengths)
    for level in _levels(chains):
        hops -= 2.0 * (level[:, None] == level)
    np.fill_diagonal(hops, 0)  # a chain equals itself below its end, too
    return hops


def _levels(chains: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """Return (levels, chains): a number for each prefix of a chain, equal for equal prefixes."""
    import numpy as np

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
