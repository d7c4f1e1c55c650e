"""What dowse keeps on disk beside the code: sizes and limits, and the removal of what nobody uses.

Nothing grows for ever: a store keeps to a number by itself, or its parts go when they are not used.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
import time
from pathlib import Path

from dowse.config import cache_folder, data_folder
from dowse.lazy_classes import NamedTuple
from dowse.storage.local.layout import catalog_path
from dowse.write_lock import lock_holder

_UNUSED_DAYS = 90
# Folders of the cache whose parts are made again when they are needed.
_REMAKEABLE = ("repositories", "revisions", "histories", "mirrors", "grammars", "eval", "run")


class Store(NamedTuple):
    """One kind of what is kept."""

    name: str
    bytes: int
    limit: str


def measure_stores() -> list[Store]:
    """Return what takes space in the folders of the user, without what takes none."""
    temporary = Path(tempfile.gettempdir()).glob("dowse-*")
    sizes = {name: _size(cache_folder() / name) for name in ("indexes", "vectors", *_REMAKEABLE)}
    sizes["feedback"] = _size(data_folder() / "feedback")
    sizes["temporary"] = sum(_size(folder) for folder in temporary if _is_own(folder))
    limits = _limits()
    return [Store(name, size, limits[name]) for name, size in sizes.items() if size]


def _limits() -> dict[str, str]:
    from dowse.feedback.store import KEPT_DAMAGED, MAX_EVENTS  # slow to load, as those below
    from dowse.source.revisions import KEPT
    from dowse.vectors.cache import MAX_BYTES

    unused = f"removed if unused for {_UNUSED_DAYS} days"
    return dict.fromkeys(_REMAKEABLE, unused) | {
        "indexes": f"removed if their folder is gone, after {_UNUSED_DAYS} days",
        "vectors": f"{MAX_BYTES >> 30} GiB an encoder",
        "revisions": f"{KEPT} a repository, {unused}",
        "feedback": f"{MAX_EVENTS:,} events and {KEPT_DAMAGED} damaged files each",
        "temporary": "removed a day after their process was killed",
    }


def remove_unused() -> None:
    """Remove folders of the cache that nobody used for long; of indexes, those whose folder is gone."""
    for name in ("indexes", *_REMAKEABLE):
        with contextlib.suppress(OSError), os.scandir(cache_folder() / name) as entries:
            for entry in entries:
                folder = Path(entry.path)
                is_unused = entry.is_dir(follow_symlinks=False) and _is_unused(folder)
                if is_unused and (name != "indexes" or _is_orphan(folder)):
                    shutil.rmtree(folder, ignore_errors=True)


def _is_unused(folder: Path) -> bool:
    """Whether nothing in a folder changed for long, such as its lock, and no process writes there."""
    with os.scandir(folder) as entries:
        changes = [entry.stat(follow_symlinks=False).st_mtime for entry in entries]
    last = max([folder.lstat().st_mtime, *changes])
    return time.time() - last > _UNUSED_DAYS * 86_400 and lock_holder(folder) is None


def _is_orphan(folder: Path) -> bool:
    """Whether the folder that an index is of is gone; one that can't be read may belong to anything."""
    uri = f"{catalog_path(folder).absolute().as_uri()}?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as database:
            row = database.execute("SELECT value FROM meta WHERE key = 'root'").fetchone()
    except sqlite3.Error:
        return False
    return row is not None and not Path(row[0]).exists()


def _is_own(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        return not hasattr(os, "geteuid") or folder.lstat().st_uid == os.geteuid()
    return False


def _size(folder: Path) -> int:
    """Return the bytes of the files below a folder; links are not followed."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # just removed
                total += Path(parent, name).lstat().st_size
    return total
