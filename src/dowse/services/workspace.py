"""A workspace: one file that names several repositories, by paths, globs and git addresses.

The file is the user's. One that came with a repository is not: what it names outside of its own folder, and
addresses, do not count.
"""

from __future__ import annotations

import glob
import os
import tomllib
from pathlib import Path

from dowse.errors import ConfigError
from dowse.lazy_classes import NamedTuple
from dowse.security.safe_files import read_regular_file
from dowse.source.git import toplevel
from dowse.source.git_address import is_address

WORKSPACE_FILE = "dowse.toml"
_KEY = "repositories"
_EXAMPLE = f'write {_KEY} = ["~/src/*", "https://host/owner/name"]'
_MAX_BYTES = 100_000
# A glob over a large disk names more by mistake.
_MAX_REPOSITORIES = 500


class Workspace(NamedTuple):
    """The repositories of a workspace file."""

    path: Path
    places: tuple[str, ...]  # folders in full, and git addresses
    untrusted: tuple[str, ...]  # entries that are left out: a repository may not choose them
    missing: tuple[str, ...] = ()  # entries that name no folder

    @property
    def note(self) -> str:
        """One line for the user about what is left out, "" if nothing is."""
        texts = {
            "left out {}: a repository may not choose these; copy the file out of it": self.untrusted,
            "there is no folder {}": self.missing,
        }
        parts = [text.format(", ".join(names[:5])) for text, names in texts.items() if names]
        return f"{self.path}: {'; '.join(parts)}" if parts else ""


def read_workspace(file: Path) -> Workspace:
    """Read a workspace file, or that of a folder.

    Raises:
        ConfigError: It is no such file, or names nothing.
    """
    path = (file / WORKSPACE_FILE if file.is_dir() else file).resolve()
    try:
        entries = tomllib.loads(read_regular_file(path, _MAX_BYTES).decode()).get(_KEY)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} can't be read as a workspace: {error}; {_EXAMPLE}") from None
    if not isinstance(entries, list) or not all(isinstance(each, str) and each for each in entries):
        raise ConfigError(f"{path}: {_EXAMPLE}")
    is_foreign = toplevel(path.parent) is not None
    places: dict[str, None] = {}
    untrusted, missing = [], []
    for entry in entries:
        found = [entry] if is_address(entry) else _folders(path.parent, entry)
        outside = [each for each in found if is_address(each) or not Path(each).is_relative_to(path.parent)]
        if is_foreign and (outside or not _is_inner(entry)):
            untrusted.append(entry)
        elif not found:
            missing.append(entry)
        else:
            places |= dict.fromkeys(found)
    if len(places) > _MAX_REPOSITORIES:
        raise ConfigError(f"{path} names {len(places):,} folders; {_MAX_REPOSITORIES} are allowed")
    workspace = Workspace(path, tuple(places), tuple(untrusted), tuple(missing))
    if not places:
        raise ConfigError(
            workspace.note if untrusted else f"{path}: no entry of {_KEY} names a folder that exists"
        )
    return workspace


def _is_inner(entry: str) -> bool:
    """Whether an entry is written as a path below the file: it is not even looked up elsewhere."""
    return not entry.startswith(("/", "~")) and ".." not in entry.split("/")


def _folders(base: Path, entry: str) -> list[str]:
    """Return the folders that a path or glob names, in full and in order."""
    pattern = os.path.join(base, os.path.expanduser(entry))  # noqa: PTH111 - pathlib has no such globs
    return sorted(os.path.realpath(each) for each in glob.iglob(pattern) if os.path.isdir(each))  # noqa: PTH112, PTH207
