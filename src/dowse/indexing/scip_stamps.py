"""What an index remembers of its SCIP files: whether the user named them, and path, size and time of each."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

# A SCIP file in the root of a tree is used without being named.
DEFAULT_SCIP = "index.scip"
# The key of the description of an index.
SCIP_STAMPS = "scip"


class ScipStamp(NamedTuple):
    """One SCIP file as it was read."""

    path: str
    size: int
    mtime_ns: int


class ScipStamps(NamedTuple):
    """The SCIP files that an index was linked with."""

    is_named: bool = False  # by the user
    files: tuple[ScipStamp, ...] = ()

    def encode(self) -> str:
        """Return the form that is stored."""
        return json.dumps([self.is_named, *self.files])


def read_stamps(meta: Mapping[str, str]) -> ScipStamps:
    """Return what the description of an index says of its SCIP files."""
    is_named, *files = json.loads(meta.get(SCIP_STAMPS, "[false]"))
    return ScipStamps(is_named, tuple(ScipStamp(*file) for file in files))


def named_files(meta: Mapping[str, str]) -> list[Path]:
    """Return the SCIP files that the user named and that are still there, for a rebuild."""
    stamps = read_stamps(meta)
    return [path for file in stamps.files if stamps.is_named and (path := Path(file.path)).is_file()]


def scip_changed(root: Path, meta: Mapping[str, str]) -> bool:
    """Whether a SCIP file of an index has another size or time, or one has appeared in the root.

    One that was named and is gone has not changed: what was read of it stays.
    """
    stamps = read_stamps(meta)
    if stamps.is_named:
        return any(_stamp(file.path) not in (file, None) for file in stamps.files)
    path = os.path.join(root, DEFAULT_SCIP)
    found = _stamp(path, follow_symlinks=False)
    if found is None:
        return bool(stamps.files) and not os.path.lexists(path)
    return stamps.files != (found,)


def _stamp(path: str, *, follow_symlinks: bool = True) -> ScipStamp | None:
    """Return the stamp of a regular file as it is now."""
    try:
        status = Path(path).stat(follow_symlinks=follow_symlinks)
    except OSError:
        return None
    return ScipStamp(path, status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None
