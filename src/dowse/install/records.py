"""What files looked like before they were changed: backups, and what to restore them to."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from dowse.config import data_folder


@dataclass(frozen=True, slots=True)
class Record:
    """One change that can be undone to the byte, as long as nobody else has changed the file since."""

    original: str  # name of the backup; "" where there was no file
    after: str  # hash of what was written
    made: int  # how many objects around the entry were made for it
    folders: tuple[str, ...] = ()  # that were made for the file


def hash_of(data: bytes | None) -> str:
    """Return what tells one content from another; "" for no file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def keep(path: Path, data: bytes | None) -> Path | None:
    """Keep a copy of a content, for the owner's eyes only: configurations hold secrets."""
    if data is None:
        return None
    backup = _folder() / f"{path.name.lstrip('.')}.{hash_of(data)[:16]}"
    if not backup.exists():
        _write(backup, data)
    return backup


def original(record: Record) -> bytes | None:
    """Return what a file held before it was changed; None where there was none."""
    return (_folder() / record.original).read_bytes() if record.original else None


def load(path: Path, name: str) -> Record | None:
    """Return the record of an entry in a file, if there is one that can be used."""
    try:
        found = json.loads(_place(path, name).read_bytes())
        record = Record(found["original"], found["after"], found["made"], tuple(found["folders"]))
        return record if not record.original or (_folder() / record.original).is_file() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def save(path: Path, name: str, record: Record) -> None:
    """Remember how to undo an entry in a file."""
    _write(_place(path, name), json.dumps({"file": str(path), "name": name, **asdict(record)}).encode())


def forget(path: Path, name: str) -> None:
    """Forget an entry that is no more; its backup stays."""
    _place(path, name).unlink(missing_ok=True)


def _folder() -> Path:
    return data_folder() / "install"


def _place(path: Path, name: str) -> Path:
    key = hashlib.sha256(f"{os.path.realpath(path)}\n{name}".encode("utf-8", "surrogateescape")).hexdigest()
    return _folder() / f"{key[:24]}.json"


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(data)
    temporary.replace(path)
