"""Reads and atomically replaces files of other programs; mode and links are kept."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from dowse.errors import DowseError
from dowse.install.editing import EditError


def read(path: Path) -> bytes | None:
    """Return the content of a file, or None if there is none."""
    if path.exists() and not path.is_file():
        raise DowseError(f"{path} is no regular file; move it away, or choose another path")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def decode(data: bytes | None) -> str:
    """Return the text with its line ends; "" for no file."""
    try:
        return (data or b"").decode()
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode(errors="replace")
        raise EditError("this is not UTF-8", before, len(before)) from None


def write(path: Path, before: bytes | None, after: bytes) -> list[Path]:
    """Replace a file atomically, and return the folders that were created for it.

    A symbolic link stays one: its target is written. If the file has changed since it was read, nothing is
    written.
    """
    target = Path(os.path.realpath(path))
    folders = _make_folders(target.parent)
    if before is not None and not os.access(target, os.W_OK):
        raise DowseError(
            f"{target} is read-only; change its mode, or the program that generates it, and run this again"
        )
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(after)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(target.stat().st_mode & 0o7777 if before is not None else _default_mode())
        if read(target) != before:
            raise DowseError(f"{path} was changed by another program just now; run this again")
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        _remove_folders(folders)
        raise
    return folders


def remove(path: Path, folders: list[Path]) -> None:
    """Remove a file that was created here, and the folders created for it that are empty."""
    Path(os.path.realpath(path)).unlink(missing_ok=True)
    _remove_folders(folders)


def _make_folders(folder: Path) -> list[Path]:
    """Create a folder, and return those that were missing, outermost first."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    missing.reverse()
    for missing_folder in missing:
        missing_folder.mkdir()
    return missing


def _remove_folders(folders: list[Path]) -> None:
    for folder in reversed(folders):
        with suppress(OSError):  # something else is in it by now
            folder.rmdir()


def _default_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
