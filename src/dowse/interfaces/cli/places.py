"""Where a command was asked to search: the index that holds a folder or file, and the path in it."""

from __future__ import annotations

import os
from pathlib import Path

from dowse.config import Settings, index_folder
from dowse.errors import DowseError
from dowse.lazy_classes import NamedTuple


class Place(NamedTuple):
    """The root of an index, and where in it a command was asked to look."""

    root: Path
    below: str = ""  # relative to the root, with "/"; "" for the root itself

    def openable(self, path: str, target: str) -> str:
        """Return a path of the index as one that can be opened from the current folder.

        Args:
            path: Relative to the root.
            target: The place as the user wrote it.
        """
        if not self.below and (target in ("", ".") or not self.root.is_dir()):
            return path  # those of a corpus are no files
        relative = os.path.relpath(path, self.below or ".")
        if relative == ".":  # the place is this file
            return target
        joined = Path(target).expanduser() / relative
        return os.path.normpath(joined) if relative.startswith("..") else str(joined)


def find_place(
    path: Path, name: str, settings: Settings, *, exact: bool = False, everywhere: bool = False
) -> Place:
    """Return the index that a folder or file belongs to.

    A folder with an index of its own is its own place. Else it is part of the nearest folder above that has
    an index, within its git repository, if it is in one; else of that repository as a whole.

    Args:
        path: The folder or file, resolved.
        name: The same as the user wrote it.
        settings: Of the user: an index in a named folder or on a cluster is that of the path itself.
        exact: Whether the path itself is meant, as by `dowse index PATH`.
        everywhere: Whether the repository around it is meant, even if it has an index of its own.
    """
    if not path.exists():
        raise DowseError(f"{name} does not exist; name a repository, a folder or a file in one")
    is_file = path.is_file()
    if settings.backend or (
        not is_file and (exact or settings.index_dir or (not everywhere and _has_index(path)))
    ):
        return Place(path)
    from dowse.source.git import toplevel

    top = toplevel(path)
    if (str(path) == top) or _is_corpus(path):
        return Place(path)
    roots = [each for each in path.parents if top is None or each.is_relative_to(top)]
    root = next(filter(_has_index, roots), Path(top) if top and Path(top) != Path.home() else None)
    if root is not None:
        return Place(root, path.relative_to(root).as_posix())
    if is_file:
        raise DowseError(f"{name} is a file in no repository and no index; name the folder to be indexed")
    return Place(path)


def _is_corpus(path: Path) -> bool:
    from dowse.source.corpus import ENDINGS, is_corpus  # late: a search of a whole repository needs neither

    return path.name.endswith(ENDINGS) if path.is_file() else is_corpus(path)


def _has_index(root: Path) -> bool:
    return (index_folder(root, Settings()) / "catalog.sqlite").exists()
