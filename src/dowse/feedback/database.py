"""The SQLite file that choices are kept in: opened, and made where there is none.

With a rollback journal, not a write-ahead log: choices are few, and a file that is removed or copied while
somebody has it open stays whole.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

_FORMAT = 1
_SCHEMA = """
CREATE TABLE queries (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, asked TEXT NOT NULL);
CREATE TABLE terms (
    term TEXT NOT NULL, query INTEGER NOT NULL, PRIMARY KEY (term, query)
) WITHOUT ROWID;
CREATE INDEX terms_by_query ON terms (query, term);
CREATE TABLE events (
    id INTEGER PRIMARY KEY, query INTEGER NOT NULL, symbol TEXT NOT NULL, kind TEXT NOT NULL,
    visitor TEXT NOT NULL, rank INTEGER NOT NULL, time REAL NOT NULL
);
CREATE INDEX events_by_query ON events (query, symbol, visitor, kind);
CREATE INDEX events_by_visitor ON events (visitor);
"""
# What a search or a record may wait for another process that writes.
_BUSY_SECONDS = 2.0


def open_database(path: Path) -> sqlite3.Connection:
    """Open the database, and make its tables if it is new."""
    database = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _FORMAT):
            raise sqlite3.DatabaseError(f"it has format {version}, this is dowse for {_FORMAT}")
        if version == 0:
            _make(database)
    except sqlite3.Error:
        database.close()
        raise
    return database


def _make(database: sqlite3.Connection) -> None:
    """Make the tables, unless another process just did."""
    with closing(database.cursor()) as cursor:
        cursor.execute("BEGIN IMMEDIATE")
        if cursor.execute("PRAGMA user_version").fetchone()[0] == 0:
            for statement in filter(str.strip, _SCHEMA.split(";")):
                cursor.execute(statement)
            cursor.execute(f"PRAGMA user_version = {_FORMAT}")
        cursor.execute("COMMIT")


def identity(path: Path) -> tuple[int, int]:
    """Return which file a path leads to; (0, 0) for none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (found.st_dev, found.st_ino)
