"""The catalog of a repository's commits: SQLite with a full-text index, and vectors of each encoder.

It can be rebuilt at any time, so that a damaged one is simply removed. One writer at a time; a
commit of git never changes, so that only new ones are read.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dowse.damage import BrokenBlock, lacks_pages
from dowse.history.messages import CommitMessage
from dowse.json_form import json_form
from dowse.lazy_classes import NamedTuple
from dowse.parsing.tokenizer import tokenize
from dowse.security.safe_files import make_private_directory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Names the format; those of other formats are removed.
_FILE, _ANY_FILE = "commits.v3.sqlite", "commits.v*.sqlite*"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS commits (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, author TEXT NOT NULL, time INTEGER NOT NULL,
    subject TEXT NOT NULL, body TEXT NOT NULL, paths TEXT NOT NULL, checksum INTEGER NOT NULL
);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(terms, content='');
CREATE TABLE IF NOT EXISTS vectors (
    encoder TEXT NOT NULL, view TEXT NOT NULL, row INTEGER NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (encoder, view, row)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_BATCH = 500
# What an encoder reads of a commit.
View = Literal["subject", "message"]
VIEWS: tuple[View, ...] = ("subject", "message")


def remove_commits(folder: Path) -> None:
    """Remove a damaged catalog; its lock is held."""
    for path in folder.glob(_ANY_FILE):
        path.unlink(missing_ok=True)


@json_form(hidden=("row", "time"), properties=("date",), renamed={"id": "commit"})
class StoredCommit(NamedTuple):
    """A commit of the catalog."""

    row: int
    id: str
    author: str
    time: int
    subject: str
    body: str
    paths: list[str]
    # Definitions that it changed; they are not in the catalog, but found for the commits of an answer.
    symbols: Sequence[str] = ()

    @property
    def date(self) -> str:
        """Its time, in UTC."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.time))


class CommitStore:
    """The commits of one repository; those of a folder in it, by its path from the top."""

    def __init__(self, folder: Path, prefix: str = "") -> None:
        make_private_directory(folder)
        self.prefix = prefix  # "" or ending with "/": of other folders nothing may be told
        self._path = folder / _FILE
        if not self._path.exists():
            remove_commits(folder)
        self._db = self._open()

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, isolation_level=None, timeout=30.0)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.executescript(_SCHEMA)
            if lacks_pages(db, self._path) and not self._path.with_name(f"{_FILE}-wal").stat().st_size:
                raise sqlite3.DatabaseError("its end is missing")
        except (sqlite3.Error, OSError):
            db.close()
            raise
        return db

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @property
    def head(self) -> str:
        """The commit up to which all is read."""
        row = self._db.execute("SELECT value FROM meta WHERE name = 'head'").fetchone()
        return str(row[0]) if row else ""

    def count(self) -> int:
        """Return how many commits there are."""
        return int(self._db.execute("SELECT count(*) FROM commits").fetchone()[0])

    def ids(self) -> set[str]:
        """Return the ids of all commits."""
        return {name for (name,) in self._db.execute("SELECT id FROM commits")}

    def add(self, messages: Iterable[CommitMessage]) -> None:
        """Add commits, all or none."""
        with self._transaction():
            for each in messages:
                self._add(each)

    def set_head(self, head: str) -> None:
        """Record that all commits up to this one are read."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('head', ?)", (head,))

    def _add(self, each: CommitMessage) -> None:
        values = (each.id, each.author, each.time, each.subject, each.body, json.dumps(each.paths))
        added = self._db.execute(
            "INSERT OR IGNORE INTO commits (id, author, time, subject, body, paths, checksum)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*values, _checksum(values)),
        )
        if added.rowcount:
            parts = (each.subject, each.body, " ".join(each.paths), each.changed)
            terms = " ".join(tokenize("\n".join(parts)))
            self._db.execute("INSERT INTO words (rowid, terms) VALUES (?, ?)", (added.lastrowid, terms))

    def clear(self) -> None:
        """Remove all commits: the history was rewritten."""
        with self._transaction():
            for statement in (
                "DELETE FROM commits",
                "DELETE FROM vectors",
                "DELETE FROM meta",
                "INSERT INTO words (words) VALUES ('delete-all')",
            ):
                self._db.execute(statement)

    def commits(self, rows: Sequence[int] | None = None) -> list[StoredCommit]:
        """Return commits by row in the given order, or all."""
        columns = "row, id, author, time, subject, body, paths, checksum"
        if rows is None:
            found = self._db.execute(f"SELECT {columns} FROM commits").fetchall()
            return [_stored(values) for values in found]
        by_row = {}
        for batch in _batches(rows):
            marks = ",".join("?" * len(batch))
            query = f"SELECT {columns} FROM commits WHERE row IN ({marks})"
            by_row.update({values[0]: _stored(values) for values in self._db.execute(query, batch)})
        return [by_row[row] for row in rows if row in by_row]

    def search_words(self, terms: Sequence[str]) -> dict[int, float]:
        """Return the BM25 score of every commit that has some of the terms."""
        if not terms:
            return {}
        query = " OR ".join('"' + term.replace('"', "") + '"' for term in terms)
        found = self._db.execute("SELECT rowid, -bm25(words) FROM words WHERE words MATCH ?", (query,))
        return {int(row): float(score) for row, score in found}

    def rows_without_vector(self, encoder: str, view: View) -> list[int]:
        """Return the commits that have no vector of an encoder, newest first."""
        query = (
            "SELECT row FROM commits WHERE row NOT IN"
            " (SELECT row FROM vectors WHERE encoder = ? AND view = ?) ORDER BY time DESC"
        )
        return [row for (row,) in self._db.execute(query, (encoder, view))]

    def put_vectors(
        self, encoder: str, view: View, rows: Sequence[int], vectors: NDArray[np.float32]
    ) -> None:
        """Store a vector of each of some commits."""
        import numpy as np

        entries = [
            (encoder, view, row, each.astype(np.float16).tobytes())
            for row, each in zip(rows, vectors, strict=True)
        ]
        with self._transaction():
            self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", entries)

    def vectors(self, encoder: str, view: View, dimension: int) -> tuple[list[int], NDArray[np.float32]]:
        """Return the rows that have vectors, and these."""
        import numpy as np

        query = "SELECT row, vector FROM vectors WHERE encoder = ? AND view = ? AND length(vector) = ?"
        found = self._db.execute(query, (encoder, view, 2 * dimension)).fetchall()
        data = np.frombuffer(b"".join(blob for _, blob in found), np.float16)
        return [row for row, _ in found], data.reshape(-1, dimension).astype(np.float32)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")


def _stored(values: tuple[int, str, str, int, str, str, str, int]) -> StoredCommit:
    row, name, author, time, subject, body, paths, checksum = values
    if checksum != _checksum(values[1:-1]):
        raise BrokenBlock("a commit is not what was written")
    return StoredCommit(row, name, author, time, subject, body, json.loads(paths))


def _checksum(values: tuple[object, ...]) -> int:
    """Return the checksum of the columns of a commit: SQLite has none, and its text is shown."""
    return zlib.crc32("\0".join(map(str, values)).encode("utf-8", "surrogatepass"))


def _batches(rows: Sequence[int]) -> Iterator[tuple[int, ...]]:
    remaining = iter(rows)
    while batch := tuple(islice(remaining, _BATCH)):
        yield batch
