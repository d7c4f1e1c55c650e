"""Feedback events of one index, in one SQLite file of the user's data folder.

It has a rollback journal, not a write-ahead log: events are few, and a file that is removed or copied while
somebody has it open stays consistent.
"""

from __future__ import annotations

import glob
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from dowse.config import feedback_file
from dowse.damage import lacks_pages, unavailable_error
from dowse.errors import DowseError
from dowse.feedback.events import (
    Event,
    normalise_query,
    ranking_terms,
    validate_event,
)
from dowse.lazy_classes import NamedTuple
from dowse.security.safe_files import make_private_directory
from dowse.security.terminal import replace_surrogates

# Further repetitions of one event by one visitor would change nothing (see `boosts.visitor_vote`).
MAX_REPEATS = 10
# The oldest events are evicted: a visitor's own first, so that nobody can push out the events of others.
MAX_VISITOR_EVENTS, MAX_EVENTS = 5_000, 200_000
_EVENT_COLUMNS = "q.asked, e.symbol, e.kind, e.visitor, e.rank, e.time"


# Before the number in the name of a damaged file that was set aside; so many are kept, the newest.
_DAMAGED = ".damaged-"
KEPT_DAMAGED = 3
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


class FeedbackCount(NamedTuple):
    """The feedback for one symbol and one query, in numbers."""

    query: str  # as it was first typed
    symbol: str
    chosen: int  # clicks, copies, openings and up-votes
    up: int
    down: int
    visitors: int
    last: float  # seconds since 1970


class StoredQuery(NamedTuple):
    """A query that has feedback."""

    id: int
    text: str  # normalised
    original: str  # as it was first typed
    terms: frozenset[str]


class QueryEvent(NamedTuple):
    """An event as boosts are computed from it."""

    query: int  # `StoredQuery.id`
    symbol: str
    visitor: str
    kind: str
    rank: int = 0  # the rank of the hit when it was chosen; 0 for unknown


class FeedbackDamaged(DowseError):
    """The feedback file was corrupt and is set aside, or was written by another version."""


class FeedbackStore:
    """All feedback events of one index; thread-safe and process-safe. Nothing is written before `record`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._database: sqlite3.Connection | None = None
        self._file: tuple[int, int] = (0, 0)  # device and inode of the open file

    @classmethod
    def open(cls, root: Path | str) -> FeedbackStore:
        """Return the store of a repository, folder or corpus; nothing is read or written yet."""
        return cls(feedback_file(Path(root).expanduser().resolve()))

    @property
    def exists(self) -> bool:
        """Whether anything was ever recorded."""
        return self.path.exists()

    def record(self, event: Event) -> Event:
        """Store an event, and return it as it is stored.

        Raises:
            DowseError: The event is invalid, or can't be written.
        """
        event = validate_event(event)
        event = event._replace(time=event.time or time.time())
        with self._connected(create=True) as database, database:
            database.execute("BEGIN IMMEDIATE")
            query_id = _query_id(database, event.query)
            database.execute(
                "INSERT INTO events (query, symbol, kind, visitor, rank, time) VALUES (?, ?, ?, ?, ?, ?)",
                (query_id, event.symbol, event.kind, event.visitor, event.rank, event.time),
            )
            _evict_oldest(database, query_id, event)
        return event

    def events(self, query: str | None = None, limit: int | None = None) -> Iterator[Event]:
        """Yield every event, the latest first; only those of one query if it is given."""
        kinds = [str, str, str, str, int, float]
        rows = self._select(_EVENT_COLUMNS, query, "ORDER BY e.id DESC", limit, kinds)
        yield from (Event(*row) for row in rows)

    def counts(self, query: str | None = None, limit: int | None = None) -> list[FeedbackCount]:
        """Return how often each symbol was chosen for each query, the most chosen first."""
        columns = (
            "q.asked, e.symbol, sum(e.kind != 'down') AS chosen, sum(e.kind = 'up'), "
            "sum(e.kind = 'down'), count(DISTINCT e.visitor), max(e.time)"
        )
        order = "GROUP BY e.query, e.symbol ORDER BY chosen DESC, max(e.id) DESC"
        kinds = [str, str, int, int, int, int, float]
        return [FeedbackCount(*row) for row in self._select(columns, query, order, limit, kinds)]

    def reset(
        self, query: str | None = None, *, symbol: str | None = None, visitor: str | None = None
    ) -> int:
        """Delete events: all of them, or those of a query, a symbol, a visitor; return how many."""
        text = None if query is None else normalise_query(query)
        conditions = {
            "query = (SELECT id FROM queries WHERE text = ?)": text,
            "symbol = ?": None if symbol is None else replace_surrogates(symbol),
            "visitor = ?": None if visitor is None else replace_surrogates(visitor),
        }
        chosen = {condition: value for condition, value in conditions.items() if value is not None}
        if not self.exists:
            return 0
        with self._connected() as database, database:
            database.execute("BEGIN IMMEDIATE")
            return _delete_events(database, " AND ".join(chosen) or "1", tuple(chosen.values()))

    def destroy(self) -> None:
        """Remove the file, whatever is in it, and damaged ones before it."""
        self.close()
        more = tuple(self.path.name + ending for ending in ("-journal", _DAMAGED))
        for path in list(self.path.parent.iterdir()) if self.path.parent.is_dir() else ():
            if path == self.path or path.name.startswith(more):
                path.unlink(missing_ok=True)

    def query_id(self, query: str) -> int | None:
        """Return the id of a query; None if it has no feedback."""
        rows = self._read("SELECT id FROM queries WHERE text = ?", (normalise_query(query),), [int])
        return next((row[0] for row in rows), None)

    def queries_sharing(self, terms: Sequence[str], limit: int) -> list[StoredQuery]:
        """Return queries that share terms, those that share most first."""
        marks = ",".join("?" * len(terms))
        rows = self._read(
            "SELECT q.id, q.text, q.asked, group_concat(t.term, ' ') FROM queries q "
            "JOIN terms t ON t.query = q.id WHERE q.id IN (SELECT query FROM terms "
            f"WHERE term IN ({marks}) GROUP BY query ORDER BY count(*) DESC, query DESC LIMIT ?) "
            "GROUP BY q.id",
            (*terms, limit),
            [int, str, str, str],
        )
        return [
            StoredQuery(id_, text, original, frozenset(words.split())) for id_, text, original, words in rows
        ]

    def query_events(self, query_ids: Sequence[int]) -> list[QueryEvent]:
        """Return the events of some queries, in the order of time."""
        marks = ",".join("?" * len(query_ids))
        columns = "query, symbol, visitor, kind, rank"
        kinds = [int, str, str, str, int]
        statement = f"SELECT {columns} FROM events WHERE query IN ({marks}) ORDER BY id"
        rows = self._read(statement, query_ids, kinds)
        return [QueryEvent(*row) for row in rows]

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    def _select(
        self, columns: str, query: str | None, order: str, limit: int | None, kinds: Sequence[type]
    ) -> list[tuple[Any, ...]]:
        """Return columns of events (e) and their queries (q), of one query or of all."""
        where, values = ("", []) if query is None else (" WHERE q.text = ?", [normalise_query(query)])
        rows = -1 if limit is None else min(limit, MAX_EVENTS)  # -1: all
        statement = f"SELECT {columns} FROM events e JOIN queries q ON q.id = e.query{where} {order} LIMIT ?"
        return self._read(statement, (*values, rows), kinds)

    def _read(self, statement: str, values: Sequence[object], kinds: Sequence[type]) -> list[tuple[Any, ...]]:
        if not self.exists:
            return []
        with self._connected() as database:
            rows = database.execute(statement, tuple(values)).fetchall()
            if any(
                not isinstance(value, kind) for row in rows for value, kind in zip(row, kinds, strict=True)
            ):
                raise sqlite3.DatabaseError("a value is of another kind")
            return rows

    @contextmanager
    def _connected(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        """Yield the open database, one thread at a time; errors become messages with a remedy."""
        with self._lock:
            try:
                if create:
                    make_private_directory(self.path.parent)
                if self._database is None or self._file != _file_identity(self.path):
                    self.close()  # somebody removed or replaced the file
                    self._database = _open_database(self.path)
                    self._file = _file_identity(self.path)
                yield self._database
            except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
                self.close()
                if unavailable := unavailable_error(self.path, error, "feedback"):
                    raise unavailable from error
                if isinstance(error, OSError):
                    raise
                text = f"the feedback in {self.path} was damaged ({error})"
                raise FeedbackDamaged(f"{text}; it is kept as {self._set_aside()}") from error

    def _set_aside(self) -> Path:
        """Rename a damaged file, which can't be made again, and return its new path."""
        start = self.path.name + _DAMAGED
        endings = (path.name.removeprefix(start) for path in self.path.parent.glob(f"{glob.escape(start)}*"))
        numbers = sorted(int(ending) for ending in endings if ending.isdecimal())
        aside = self.path.with_name(f"{start}{max(numbers, default=0) + 1}")
        with suppress(OSError):  # of a folder that can't be written to it stays in use
            self.path.replace(aside)
            for number in numbers[: 1 - KEPT_DAMAGED]:
                self.path.with_name(f"{start}{number}").unlink(missing_ok=True)
            return aside
        return self.path


def _query_id(database: sqlite3.Connection, query: str) -> int:
    """Return the id of a query; a new one is stored with its terms."""
    text = normalise_query(query)
    row = database.execute("SELECT id FROM queries WHERE text = ?", (text,)).fetchone()
    if row:
        return int(row[0])
    query_id = database.execute("INSERT INTO queries (text, asked) VALUES (?, ?)", (text, query)).lastrowid
    terms = [(term, query_id) for term in ranking_terms(query)]
    database.executemany("INSERT OR IGNORE INTO terms (term, query) VALUES (?, ?)", terms)
    return int(query_id or 0)


def _evict_oldest(database: sqlite3.Connection, query_id: int, event: Event) -> None:
    """Keep repetitions, a visitor's events and the whole file within their limits."""
    same = (query_id, event.symbol, event.visitor, event.kind)
    for where, values, limit in (
        ("query = ? AND symbol = ? AND visitor = ? AND kind = ?", same, MAX_REPEATS),
        ("visitor = ?", (event.visitor,), MAX_VISITOR_EVENTS),
        ("1", (), MAX_EVENTS),
    ):
        last = f"(SELECT id FROM events WHERE {where} ORDER BY id DESC LIMIT 1 OFFSET ?)"
        _delete_events(database, f"{where} AND id <= {last}", (*values, *values, limit))


def _delete_events(database: sqlite3.Connection, where: str, values: Sequence[object]) -> int:
    """Delete events, and the queries that have none left; return how many events."""
    queries = database.execute(f"SELECT DISTINCT query FROM events WHERE {where}", values).fetchall()
    removed = database.execute(f"DELETE FROM events WHERE {where}", values).rowcount
    for table, column in (("terms", "query"), ("queries", "id")):
        database.executemany(
            f"DELETE FROM {table} WHERE {column} = ?1 AND NOT EXISTS (SELECT 1 FROM events WHERE query = ?1)",
            queries,
        )
    return removed


def _open_database(path: Path) -> sqlite3.Connection:
    """Open the database, and create its tables if it is new."""
    database = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _FORMAT):
            remedy = "`dowse feedback reset --all` begins anew"
            raise FeedbackDamaged(
                f"the feedback in {path} has format {version}, this dowse reads {_FORMAT}; {remedy}"
            )
        if version == 0:
            _create_tables(database)
        elif lacks_pages(database, path):
            raise sqlite3.DatabaseError("its end is missing")
    except (sqlite3.Error, FeedbackDamaged):
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


def _file_identity(path: Path) -> tuple[int, int]:
    """Return the device and inode of a file; (0, 0) if there is none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (status.st_dev, status.st_ino)
