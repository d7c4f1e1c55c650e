"""Reading and writing files that belong to others: whole, with their mode, through links, never half."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from dowse.errors import DowseError
from dowse.install.errors import Damaged


def read(path: Path) -> bytes | None:
    """Return what a file holds, or None where there is none."""
    if path.exists() and not path.is_file():
        raise DowseError(f"{path} is no plain file; move it away, or name another place")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def decode(data: bytes | None) -> str:
    """Return a text as it is, line ends and all; "" for a file that is not there."""
    try:
        return (data or b"").decode()
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode(errors="replace")
        raise Damaged("this is not UTF-8", before, len(before)) from None


def write(path: Path, before: bytes | None, after: bytes) -> list[Path]:
    """Put a new content in the place of the old one in one step, and return the folders that it took.

    A link stays a link: what it points to is written. If the file is no longer what was read, nothing is.
    """
    target = Path(os.path.realpath(path))
    folders = _make_folders(target.parent)
    if before is not None and not os.access(target, os.W_OK):
        raise DowseError(f"{target} is read-only; change its mode, or what makes it, and run this again")
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(after)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(target.stat().st_mode & 0o7777 if before is not None else _usual_mode())
        if read(target) != before:
            raise DowseError(f"{path} was changed by another program just now; run this again")
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        _remove_folders(folders)
        raise
    return folders


def remove(path: Path, folders: list[Path]) -> None:
    """Remove a file that was made here, and the folders made for it that hold nothing else."""
    Path(os.path.realpath(path)).unlink(missing_ok=True)
    _remove_folders(folders)


def _make_folders(folder: Path) -> list[Path]:
    """Make a folder, and return those that were missing, outermost first."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    missing.reverse()
    for each in missing:
        each.mkdir()
    return missing


def _remove_folders(folders: list[Path]) -> None:
    for folder in reversed(folders):
        with suppress(OSError):  # something else is in it by now
            folder.rmdir()


def _usual_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
