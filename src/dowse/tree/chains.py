"""Where things hang in the tree of all repositories: the names on the way from below the root."""

from __future__ import annotations

from dowse.types import SymbolRow


def file_chain(repo: str, path: str) -> tuple[str, ...]:
    """Return the way to a file: repository, folders, file."""
    return (repo, *path.split("/"))


def symbol_chain(row: SymbolRow) -> tuple[str, ...]:
    """Return the way to a symbol: that of its file, and the symbol itself."""
    return (*file_chain(row.repo, row.path), row.key)
