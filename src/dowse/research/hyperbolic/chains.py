"""Chains of names: the path of a file or symbol in the repository tree, from below the root."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.types import SymbolRow

# Levels of the tree that are embedded: deeper folders and files share the point of their ancestor at this
# depth. Coordinates need more digits with each level, so the time for a chain of folders would be cubic in
# its length; the deepest real trees have some 40.
MAX_DEPTH = 64


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
