"""Backups of changed files, and records of how to restore them."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from dowse.config import data_folder
from dowse.security.safe_files import write_atomically


@dataclass(frozen=True, slots=True)
class Record:
    """One change that can be undone to the byte, as long as nobody else has changed the file since."""

    original: str  # name of the backup; "" if there was no file
    after: str  # hash of the written content
    created_objects: int  # objects that were created around the entry
    folders: tuple[str, ...] = ()  # folders that were created for the file


def content_hash(data: bytes | None) -> str:
    """Return the SHA-256 of a content; "" for no file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def write_backup(path: Path, data: bytes | None) -> Path | None:
    """Write a backup that only its owner can read: configurations hold secrets."""
    if data is None:
        return None
    backup = _folder() / f"{path.name.lstrip('.')}.{content_hash(data)[:16]}"
    if not backup.exists():
        _write(backup, data)
    return backup


def original(record: Record) -> bytes | None:
    """Return the content of a file before it was changed; None if there was no file."""
    return (_folder() / record.original).read_bytes() if record.original else None


def load(path: Path, name: str) -> Record | None:
    """Return the record of an entry in a file, if there is a usable one."""
    try:
        data = json.loads(_record_path(path, name).read_bytes())
        record = Record(data["original"], data["after"], data["created_objects"], tuple(data["folders"]))
        return record if not record.original or (_folder() / record.original).is_file() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def save(path: Path, name: str, record: Record) -> None:
    """Save how to undo an entry in a file."""
    _write(_record_path(path, name), json.dumps({"file": str(path), "name": name, **asdict(record)}).encode())


def delete(path: Path, name: str) -> None:
    """Delete the record of a removed entry; its backup stays."""
    _record_path(path, name).unlink(missing_ok=True)


def _folder() -> Path:
    return data_folder() / "install"


def _record_path(path: Path, name: str) -> Path:
    key = hashlib.sha256(f"{os.path.realpath(path)}\n{name}".encode("utf-8", "surrogateescape")).hexdigest()
    return _folder() / f"{key[:24]}.json"


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomically(path, data)
