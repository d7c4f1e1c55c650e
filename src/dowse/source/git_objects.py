"""The object store of a repository, checked before git reads it: only its own, regular files."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator

from dowse.errors import DowseError
from dowse.source.git_refs import read_below

_MAX_ALTERNATES_BYTES = 65_536
_READ_BY_GIT = re.compile(r"[0-9a-f]{2}|pack|info")


def check_objects(common: str) -> str:
    """Return the objects folder of a git folder.

    Raises:
        DowseError: The folder or something in it is a symbolic link or special file, or alternates name other
            folders: git would read files outside of the repository, or block.
    """
    objects = os.path.join(common, "objects")
    try:
        if not stat.S_ISDIR(os.lstat(objects).st_mode):
            raise _refused(objects)
        for name in ("info/alternates", "info/http-alternates"):
            _check_alternates(objects, name)
        for entry in _entries(objects):
            if not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)):
                raise _refused(entry.path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DowseError(
            f"git's objects in {objects} can't be read ({reason}); `git fsck` may tell more"
        ) from error
    return objects


def _entries(objects: str) -> Iterator[os.DirEntry[str]]:
    """Yield the entries of the objects folder, and of the folders in it that git reads."""
    with os.scandir(objects) as listing:
        for entry in listing:
            yield entry
            if _READ_BY_GIT.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                with os.scandir(entry.path) as inner:
                    yield from inner


def _check_alternates(objects: str, name: str) -> None:
    """Refuse alternates: the file names other object stores anywhere on the machine."""
    try:
        text = read_below(objects, name, _MAX_ALTERNATES_BYTES)
    except FileNotFoundError:
        return
    if any(line and not line.startswith(b"#") for line in map(bytes.strip, text.splitlines())):
        raise DowseError(
            f"{objects} borrows objects of other repositories ({name}), which dowse does not read; "
            f"run `git repack -a -d` there and remove that file"
        )


def _refused(path: str) -> DowseError:
    return DowseError(
        f"{path} is a symbolic link or special file, which dowse does not read; clone the repository again"
    )
