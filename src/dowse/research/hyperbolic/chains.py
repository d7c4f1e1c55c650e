"""Where things hang in the tree of all repositories: the names on the way from below the root."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.types import SymbolRow

# Levels of the tree that have places of their own: folders and files below share that of their ancestor on
# the last of them. Coordinates need more digits with each level, so the time for a chain of folders would
# grow with the third power of its length; the deepest real trees have some 40.
DEEPEST = 64


def file_chain(repo: str, path: str) -> tuple[str, ...]:
    """Return the way to a file: repository, folders, file."""
    return (repo, *path.split("/"))


def symbol_chain(row: SymbolRow) -> tuple[str, ...]:
    """Return the way to a symbol: that of its file, and the symbol itself."""
    return (*file_chain(row.repo, row.path), row.key)


def common_prefix(chains: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return what all ways begin with: the deepest place that holds all ends."""
    if not chains:
        return ()
    low, high = min(chains), max(chains)  # what these two share, all between them share
    same = next((n for n, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    return low[:same]
