"""Files of other programs: replaced atomically, with a backup."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from dowse.config import data_folder
from dowse.errors import DowseError
from dowse.install.editing import EditError
from dowse.security.leftovers import remove_leftovers
from dowse.security.safe_files import make_private_directory, write_atomically

# Of the files with one name: the first, from before any change of ours, and so many of the last.
_KEPT_BACKUPS = 20


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


def write(path: Path, before: bytes | None, after: bytes) -> None:
    """Replace a file atomically, and keep its mode.

    A symbolic link stays one: its target is written. If the file has changed since it was read, nothing is
    written.
    """
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    if before is not None and not os.access(target, os.W_OK):
        raise DowseError(
            f"{target} is read-only; change its mode, or the program that generates it, and run this again"
        )
    remove_leftovers(target.parent, f".{target.name}.")
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.{os.getpid()}-", dir=target.parent)
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
        raise


def remove(path: Path) -> None:
    """Remove a file in which nothing is left."""
    Path(os.path.realpath(path)).unlink(missing_ok=True)


def write_backup(path: Path, data: bytes | None) -> Path | None:
    """Write a backup that only its owner can read: configurations hold secrets."""
    if data is None:
        return None
    backup = _backup_folder() / f"{_backup_name(path)}.{hashlib.sha256(data).hexdigest()[:16]}"
    if not backup.exists():
        make_private_directory(backup.parent)
        write_atomically(backup, data)
        for old in _backups(path)[1:-_KEPT_BACKUPS]:
            old.unlink(missing_ok=True)
    return backup


def backups(path: Path) -> list[bytes]:
    """Return the contents of all backups of files with this name."""
    return [backup.read_bytes() for backup in _backups(path)]


def _backups(path: Path) -> list[Path]:
    """Return the backups of files with this name, the oldest first."""
    found = _backup_folder().glob(f"{_backup_name(path)}.*")
    return sorted(found, key=lambda backup: (backup.stat().st_mtime, backup.name))


def _backup_folder() -> Path:
    return data_folder() / "install"


def _backup_name(path: Path) -> str:
    return path.name.lstrip(".")


def _default_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
