"""What the cluster has of one source, and what this transaction makes of it: only the difference is sent."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from dowse.storage.elastic.documents import EDGES, FILE, SYMBOL, Document
from dowse.storage.elastic.names import file_number

TABLES = """
CREATE TABLE IF NOT EXISTS ledger (
    kind TEXT, number INTEGER, file INTEGER, born INTEGER, hash BLOB, size INTEGER, PRIMARY KEY (kind, number)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ledger_by_file ON ledger (file);
CREATE TABLE IF NOT EXISTS sent (
    kind TEXT, number INTEGER, hash BLOB, here INTEGER,  -- whether by this writer, not by one that died
    PRIMARY KEY (kind, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS wanted (
    kind TEXT, number INTEGER, file INTEGER, hash BLOB, size INTEGER, PRIMARY KEY (kind, number)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS wanted_by_file ON wanted (file);
CREATE TABLE IF NOT EXISTS changed_files (kind TEXT, file INTEGER, PRIMARY KEY (kind, file)) WITHOUT ROWID;
"""
_PASSING = ("sent", "wanted", "changed_files")
_EVERY = (FILE, SYMBOL, EDGES)


class Version(NamedTuple):
    """A document that the cluster has."""

    kind: str
    number: int
    born: int


class Ledger:
    """The tables of one connection to a mirror's database, in its transaction."""

    def __init__(self, connection: sqlite3.Connection, slot: str) -> None:
        self._db, self._slot = connection, slot

    def want_file(self, record_key: str, documents: Sequence[Document]) -> list[Document]:
        """Note what a file consists of from now on; return the documents that the cluster lacks."""
        file = file_number(self._slot, record_key)
        self._touch(file, _EVERY)
        return self._want(documents)

    def want(self, kind: str, file: int, documents: Sequence[Document]) -> list[Document]:
        """Note the documents of one kind of a file; return those that the cluster lacks."""
        self._touch(file, (kind,))
        return self._want(documents)

    def _touch(self, file: int, kinds: Sequence[str]) -> None:
        for kind in kinds:
            self._db.execute("INSERT OR IGNORE INTO changed_files VALUES (?,?)", (kind, file))
            self._db.execute("DELETE FROM wanted WHERE file=? AND kind=?", (file, kind))

    def _want(self, documents: Sequence[Document]) -> list[Document]:
        self._db.executemany(
            "INSERT OR REPLACE INTO wanted VALUES (?,?,?,?,?)",
            [(d.kind, d.number, d.file, d.hash, int(d.body.get("size", 0))) for d in documents],
        )
        return [d for d in documents if not self._has("ledger", d) and not self._has("sent", d)]

    def _has(self, table: str, document: Document) -> bool:
        query = f"SELECT 1 FROM {table} WHERE kind=? AND number=? AND hash=?"
        return self._db.execute(query, (document.kind, document.number, document.hash)).fetchone() is not None

    def was_sent(self, document: Document) -> bool:
        """Whether another document with this id may be on its way."""
        query = "SELECT 1 FROM sent WHERE kind=? AND number=? AND here"
        return self._db.execute(query, (document.kind, document.number)).fetchone() is not None

    def note_sent(self, documents: Iterable[tuple[str, int, bytes]], here: bool = True) -> None:
        """Note what was sent in this transaction, by this writer or by the one that began it."""
        rows = ((*document, here) for document in documents)
        self._db.executemany("INSERT OR REPLACE INTO sent VALUES (?,?,?,?)", rows)

    def place_of(self, key: str) -> tuple[int, int | None]:
        """Return a file's id and which transaction brought what is there; None for the present one."""
        number = file_number(self._slot, key)
        if self._db.execute("SELECT 1 FROM sent WHERE kind=? AND number=?", (FILE, number)).fetchone():
            return number, None
        row = self._db.execute("SELECT born FROM ledger WHERE kind=? AND number=?", (FILE, number)).fetchone()
        return number, int(row[0]) if row else 0

    # What a commit does

    def want_only(self, files: Collection[int]) -> bool:
        """Note that all other files are gone, whatever the cluster has; return whether it has any."""
        known = self._db.execute("SELECT DISTINCT file FROM ledger").fetchall()
        gone = [file for (file,) in known if file not in files]
        for file in gone:
            self._touch(file, _EVERY)
        return bool(gone)

    def dying(self) -> list[Version]:
        """Return what the cluster has and shall have no more."""
        query = (
            "SELECT l.kind, l.number, l.born FROM ledger l"
            " JOIN changed_files t ON t.kind=l.kind AND t.file=l.file"
            " LEFT JOIN wanted w ON w.kind=l.kind AND w.number=l.number"
            " WHERE w.number IS NULL OR w.hash<>l.hash"
        )
        return [Version(*row) for row in self._db.execute(query)]

    def needless(self) -> list[tuple[str, int]]:
        """Return what was sent in this transaction and is not wanted after all."""
        query = (
            "SELECT s.kind, s.number FROM sent s LEFT JOIN wanted w ON w.kind=s.kind AND w.number=s.number"
            " LEFT JOIN ledger l ON l.kind=s.kind AND l.number=s.number"
            " WHERE w.number IS NULL OR w.hash<>s.hash OR l.hash IS w.hash"
        )
        return self._db.execute(query).fetchall()

    def forget_sent(self, documents: Iterable[tuple[str, int]]) -> None:
        """Note that something was removed again."""
        self._db.executemany("DELETE FROM sent WHERE kind=? AND number=?", documents)

    def sent_counts(self) -> dict[str, int]:
        """Return how many documents this transaction brings, by kind."""
        return dict(self._db.execute("SELECT kind, count(*) FROM sent GROUP BY 1").fetchall())

    def all_sent(self) -> list[tuple[str, int]]:
        """Return what this transaction has brought."""
        return self._db.execute("SELECT kind, number FROM sent").fetchall()

    def settle(self, transaction: int, dying: Sequence[Version]) -> None:
        """Bring the ledger up to what the cluster will have."""
        self._db.executemany(
            "DELETE FROM ledger WHERE kind=? AND number=? AND born=?",
            [(each.kind, each.number, each.born) for each in dying],
        )
        self._db.execute(
            "INSERT OR REPLACE INTO ledger SELECT w.kind, w.number, w.file, ?, w.hash, w.size"
            " FROM sent s JOIN wanted w ON w.kind=s.kind AND w.number=s.number",
            (transaction,),
        )

    def tallies(self) -> dict[str, int]:
        """Return how many files and symbols the cluster will have of this source, and bytes of source."""
        counts = dict(self._db.execute("SELECT kind, count(*) FROM ledger GROUP BY 1").fetchall())
        (size,) = self._db.execute(
            "SELECT coalesce(sum(size), 0) FROM ledger WHERE kind=?", (FILE,)
        ).fetchone()
        return {"files": counts.get(FILE, 0), "symbols": counts.get(SYMBOL, 0), "bytes": int(size)}

    def enter(self, versions: Iterable[tuple[str, int, int, int, bytes, int]]) -> None:
        """Enter documents of the cluster: kind, number, file, born, hash and size."""
        self._db.executemany("INSERT OR REPLACE INTO ledger VALUES (?,?,?,?,?,?)", versions)

    def forget_transaction(self) -> None:
        """Forget what was wanted and sent: it is done."""
        for table in _PASSING:
            self._db.execute(f"DELETE FROM {table}")
