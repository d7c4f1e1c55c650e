"""The choices that were made on one index, in one SQLite file of the user's data folder."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from dowse.config import feedback_file
from dowse.errors import DowseError
from dowse.feedback.database import identity, open_database
from dowse.feedback.events import Event, checked, normalised, storable, terms_of
from dowse.security.safe_files import make_private_directory

# Further repetitions of one choice by one visitor would change nothing (see `weigh.py`).
MOST_REPEATS = 10
# The oldest choices go: a visitor's own first, so that nobody can push out what others chose.
MOST_OF_A_VISITOR, MOST_EVENTS = 5_000, 200_000
_EVENT = "q.asked, e.symbol, e.kind, e.visitor, e.rank, e.time"


class Count(NamedTuple):
    """What became of one symbol for one question."""

    query: str  # as it was first asked
    symbol: str
    chosen: int  # clicks, copies, openings and up-votes
    up: int
    down: int
    visitors: int
    last: float  # seconds since 1970


class Known(NamedTuple):
    """A question for which something was chosen."""

    number: int
    text: str  # normalised
    asked: str  # as it was first asked
    terms: frozenset[str]


class Choice(NamedTuple):
    """A choice as it is weighed."""

    query: int  # `Known.number`
    symbol: str
    visitor: str
    kind: str


class FeedbackDamaged(DowseError):
    """The file of choices is none, or that of another version."""


class FeedbackStore:
    """All choices of one index; safe for threads and processes. Nothing is written before `record`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._database: sqlite3.Connection | None = None
        self._file: tuple[int, int] = (0, 0)  # which file the database is

    @classmethod
    def open(cls, root: Path | str) -> FeedbackStore:
        """Name what was chosen in a repository, folder or corpus; nothing is read or written yet."""
        return cls(feedback_file(Path(root).expanduser().resolve()))

    def __enter__(self) -> FeedbackStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def exists(self) -> bool:
        """Whether anything was ever recorded."""
        return self.path.exists()

    def record(self, event: Event) -> Event:
        """Keep a choice, and return it as it is kept.

        Raises:
            DowseError: It is no choice, or can't be written.
        """
        event = checked(event)
        event = event._replace(time=event.time or time.time())
        with self._connected(create=True) as database, database:
            database.execute("BEGIN IMMEDIATE")
            number = _query_number(database, event.query)
            database.execute(
                "INSERT INTO events (query, symbol, kind, visitor, rank, time) VALUES (?, ?, ?, ?, ?, ?)",
                (number, event.symbol, event.kind, event.visitor, event.rank, event.time),
            )
            _forget_the_oldest(database, number, event)
        return event

    def events(self, query: str | None = None, limit: int | None = None) -> Iterator[Event]:
        """Give every choice, the latest first; only those of one question if that is named."""
        for row in self._read(
            f"SELECT {_EVENT} FROM events e JOIN queries q ON q.id = e.query"
            + (" WHERE q.text = ?" if query is not None else "")
            + " ORDER BY e.id DESC LIMIT ?",
            (*([normalised(query)] if query is not None else []), _limit(limit)),
        ):
            yield Event(*row)

    def counts(self, query: str | None = None, limit: int | None = None) -> list[Count]:
        """Return how often each symbol was chosen for each question, the most chosen first."""
        rows = self._read(
            "SELECT q.asked, e.symbol, sum(e.kind != 'down') AS chosen, sum(e.kind = 'up'), "
            "sum(e.kind = 'down'), count(DISTINCT e.visitor), max(e.time) "
            "FROM events e JOIN queries q ON q.id = e.query"
            + (" WHERE q.text = ?" if query is not None else "")
            + " GROUP BY e.query, e.symbol ORDER BY chosen DESC, max(e.id) DESC LIMIT ?",
            (*([normalised(query)] if query is not None else []), _limit(limit)),
        )
        return [Count(*row) for row in rows]

    def reset(
        self, query: str | None = None, *, symbol: str | None = None, visitor: str | None = None
    ) -> int:
        """Forget choices: all of them, or those of a question, a symbol, a visitor; return how many."""
        conditions = {
            "query = (SELECT id FROM queries WHERE text = ?)": None if query is None else normalised(query),
            "symbol = ?": None if symbol is None else storable(symbol),
            "visitor = ?": None if visitor is None else storable(visitor),
        }
        given = {condition: value for condition, value in conditions.items() if value is not None}
        if not self.exists:
            return 0
        with self._connected() as database, database:
            database.execute("BEGIN IMMEDIATE")
            return _forget(database, " AND ".join(given) or "1", tuple(given.values()))

    def destroy(self) -> None:
        """Remove the file, whatever is in it: one that can't be read can't be emptied either."""
        self.close()
        for ending in ("", "-journal"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)

    def number_of(self, query: str) -> int | None:
        """Return the number of a question; None if nothing was chosen for it."""
        rows = self._read("SELECT id FROM queries WHERE text = ?", (normalised(query),))
        return next((row[0] for row in rows), None)

    def sharing(self, terms: Sequence[str], limit: int) -> list[Known]:
        """Return questions that share terms, those that share most first."""
        marks = ",".join("?" * len(terms))
        rows = self._read(
            "SELECT q.id, q.text, q.asked, group_concat(t.term, ' ') FROM queries q "
            "JOIN terms t ON t.query = q.id WHERE q.id IN (SELECT query FROM terms "
            f"WHERE term IN ({marks}) GROUP BY query ORDER BY count(*) DESC, query DESC LIMIT ?) "
            "GROUP BY q.id",
            (*terms, limit),
        )
        return [Known(number, text, asked, frozenset(has.split())) for number, text, asked, has in rows]

    def choices(self, numbers: Sequence[int]) -> list[Choice]:
        """Return what was chosen for some questions, in the order of time."""
        marks = ",".join("?" * len(numbers))
        rows = self._read(
            f"SELECT query, symbol, visitor, kind FROM events WHERE query IN ({marks}) ORDER BY id", numbers
        )
        return [Choice(*row) for row in rows]

    def close(self) -> None:
        """Let go of the file; the next call opens it again."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    def _read(self, statement: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        if not self.exists:
            return []
        with self._connected() as database:
            return database.execute(statement, tuple(values)).fetchall()

    @contextmanager
    def _connected(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        """Give the database, one thread at a time; what goes wrong with it is said with its remedy."""
        with self._lock:
            try:
                if create:
                    make_private_directory(self.path.parent)
                if self._database is None or self._file != identity(self.path):
                    self.close()  # somebody removed the file, or put another in its place
                    self._database = open_database(self.path)
                    self._file = identity(self.path)
                yield self._database
            except (sqlite3.OperationalError, OSError) as error:  # busy, full, or not ours
                self.close()
                remedy = "try again, or check its permissions and the space left"
                raise DowseError(
                    f"the feedback in {self.path} can't be used now ({error}); {remedy}"
                ) from error
            except sqlite3.DatabaseError as error:
                self.close()
                remedy = "`dowse feedback reset --all` begins anew"
                raise FeedbackDamaged(
                    f"the feedback in {self.path} can't be read ({error}); {remedy}"
                ) from error


def _limit(limit: int | None) -> int:
    """Return how many rows SQLite shall give: -1 for all."""
    return -1 if limit is None else min(limit, MOST_EVENTS)


def _query_number(database: sqlite3.Connection, query: str) -> int:
    """Return the number of a question, noting its terms if it is new."""
    text = normalised(query)
    found = database.execute("SELECT id FROM queries WHERE text = ?", (text,)).fetchone()
    if found:
        return int(found[0])
    number = database.execute("INSERT INTO queries (text, asked) VALUES (?, ?)", (text, query)).lastrowid
    terms = [(term, number) for term in terms_of(query)]
    database.executemany("INSERT OR IGNORE INTO terms (term, query) VALUES (?, ?)", terms)
    return int(number or 0)


def _forget_the_oldest(database: sqlite3.Connection, number: int, event: Event) -> None:
    """Keep repetitions, a visitor's choices and the file within their bounds."""
    same = (number, event.symbol, event.visitor, event.kind)
    for where, values, most in (
        ("query = ? AND symbol = ? AND visitor = ? AND kind = ?", same, MOST_REPEATS),
        ("visitor = ?", (event.visitor,), MOST_OF_A_VISITOR),
        ("1", (), MOST_EVENTS),
    ):
        last = f"(SELECT id FROM events WHERE {where} ORDER BY id DESC LIMIT 1 OFFSET ?)"
        _forget(database, f"{where} AND id <= {last}", (*values, *values, most))


def _forget(database: sqlite3.Connection, where: str, values: Sequence[object]) -> int:
    """Drop choices, and the questions for which nothing is left; return how many choices."""
    questions = database.execute(f"SELECT DISTINCT query FROM events WHERE {where}", values).fetchall()
    removed = database.execute(f"DELETE FROM events WHERE {where}", values).rowcount
    for table, column in (("terms", "query"), ("queries", "id")):
        database.executemany(
            f"DELETE FROM {table} WHERE {column} = ?1 AND NOT EXISTS (SELECT 1 FROM events WHERE query = ?1)",
            questions,
        )
    return removed
