"""Reads files of a database beside SQLite, without costing it its locks.

POSIX drops all locks of a process on a file when the process closes any handle of it, whoever took them ("How
To Corrupt An SQLite Database File", section 2.2). Another process then takes itself for the only user of the
database and removes the log. So a handle stays open while this process has connections to the database.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path

# Returns so many bytes from an offset on, less at the end.
ReadAt = Callable[[int, int], bytes]


@dataclass(slots=True)
class _Database:
    users: int = 0
    files: list[FileIO] = field(default_factory=list)


_guard = threading.RLock()  # connections that nobody closed are closed whenever memory is collected
_databases: dict[str, _Database] = {}


def _renew_guard() -> None:
    """Replace the lock in a forked process: it may have been held by a thread that is not there."""
    global _guard
    _guard = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_guard)


class LockKeepingConnection(sqlite3.Connection):
    """A connection whose locks last until it is closed."""

    def __init__(self, path: Path, database: str, *, uri: bool = False) -> None:
        self._held = _hold(path)
        try:
            super().__init__(database, isolation_level=None, check_same_thread=False, uri=uri)
        except BaseException:
            self._release()
            raise

    def close(self) -> None:
        """Close the connection, and then the other handles of its database if it was the last one."""
        super().close()
        self._release()

    def _release(self) -> None:
        held, self._held = self._held, ""
        if held:
            _release(held)

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError, sqlite3.Error):
            self.close()


@contextlib.contextmanager
def raw_file(database: Path, ending: str = "") -> Iterator[ReadAt]:
    """Read a file of a database; raises OSError if it is missing."""
    held = _hold(database)
    try:
        file = _open(held, f"{database}{ending}")

        def read_at(offset: int, size: int) -> bytes:
            with _guard:
                file.seek(offset)
                return file.read(size)

        yield read_at
    finally:
        _release(held)


def _hold(path: Path) -> str:
    key = os.path.realpath(path)
    with _guard:
        _databases.setdefault(key, _Database()).users += 1
    return key


def _release(key: str) -> None:
    with _guard:
        database = _databases[key]
        database.users -= 1
        if not database.users:
            del _databases[key]
            for file in database.files:
                file.close()


def _open(key: str, path: str) -> FileIO:
    with _guard:
        files, status = _databases[key].files, Path(path).stat()
        for file in files:
            if os.path.samestat(os.fstat(file.fileno()), status):
                return file
        files.append(FileIO(path))
        return files[-1]
