"""Files of other programs: replaced atomically, with a backup, and a record of how to restore them."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from dowse.config import data_folder
from dowse.errors import DowseError
from dowse.install.editing import EditError
from dowse.security.safe_files import make_private_directory, write_atomically


@dataclass(frozen=True, slots=True)
class Record:
    """One change that can be undone to the byte, as long as nobody else has changed the file since."""

    original: str  # name of the backup; "" if there was no file
    after: str  # hash of the written content
    created_objects: int  # objects that were created around the entry
    folders: tuple[str, ...] = ()  # folders that were created for the file


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
    """Replace a file atomically, keep its mode, and return the folders that were created for it.

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


def content_hash(data: bytes | None) -> str:
    """Return the SHA-256 of a content; "" for no file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def write_backup(path: Path, data: bytes | None) -> Path | None:
    """Write a backup that only its owner can read: configurations hold secrets."""
    if data is None:
        return None
    backup = _backup_folder() / f"{path.name.lstrip('.')}.{content_hash(data)[:16]}"
    if not backup.exists():
        _write_private(backup, data)
    return backup


def original_content(record: Record) -> bytes | None:
    """Return the content of a file before it was changed; None if there was no file."""
    return (_backup_folder() / record.original).read_bytes() if record.original else None


def load_record(path: Path, name: str) -> Record | None:
    """Return the record of an entry in a file, if there is a usable one."""
    try:
        data = json.loads(_record_path(path, name).read_bytes())
        record = Record(data["original"], data["after"], data["created_objects"], tuple(data["folders"]))
        return record if not record.original or (_backup_folder() / record.original).is_file() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def save_record(path: Path, name: str, record: Record) -> None:
    """Save how to undo an entry in a file."""
    data = {"file": str(path), "name": name, **asdict(record)}
    _write_private(_record_path(path, name), json.dumps(data).encode())


def delete_record(path: Path, name: str) -> None:
    """Delete the record of a removed entry; its backup stays."""
    _record_path(path, name).unlink(missing_ok=True)


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


def _backup_folder() -> Path:
    return data_folder() / "install"


def _record_path(path: Path, name: str) -> Path:
    key = hashlib.sha256(f"{os.path.realpath(path)}\n{name}".encode("utf-8", "surrogateescape")).hexdigest()
    return _backup_folder() / f"{key[:24]}.json"


def _write_private(path: Path, data: bytes) -> None:
    make_private_directory(path.parent)
    write_atomically(path, data)
