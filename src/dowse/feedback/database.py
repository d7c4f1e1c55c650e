"""The SQLite file of feedback events: opened, or created with its schema.

It has a rollback journal, not a write-ahead log: events are few, and a file that is removed or copied while
somebody has it open stays consistent.
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
# How long a search or a record waits for another process that writes.
_BUSY_SECONDS = 2.0


def open_database(path: Path) -> sqlite3.Connection:
    """Open the database, and create its tables if it is new."""
    database = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _FORMAT):
            raise sqlite3.DatabaseError(f"it has format {version}, this is dowse for {_FORMAT}")
        if version == 0:
            _create_tables(database)
    except sqlite3.Error:
        database.close()
        raise
    return database


def _create_tables(database: sqlite3.Connection) -> None:
    """Create the tables, unless another process just did."""
    with closing(database.cursor()) as cursor:
        cursor.execute("BEGIN IMMEDIATE")
        if cursor.execute("PRAGMA user_version").fetchone()[0] == 0:
            for statement in filter(str.strip, _SCHEMA.split(";")):
                cursor.execute(statement)
            cursor.execute(f"PRAGMA user_version = {_FORMAT}")
        cursor.execute("COMMIT")


def file_identity(path: Path) -> tuple[int, int]:
    """Return the device and inode of a file; (0, 0) if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (found.st_dev, found.st_ino)
