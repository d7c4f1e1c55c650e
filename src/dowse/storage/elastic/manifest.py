"""The manifest of one source: which documents the cluster holds, and which this transaction makes of them.

Writes are incremental: only documents whose content hash differs from the manifest are sent.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence

from dowse.lazy_classes import NamedTuple
from dowse.storage.elastic.documents import Document
from dowse.storage.elastic.names import FILES, NAMES, SYMBOLS, VERSIONED, file_id

TABLES = """
CREATE TABLE IF NOT EXISTS manifest (
    kind TEXT, number INTEGER, file INTEGER, born INTEGER, hash BLOB, size INTEGER, PRIMARY KEY (kind, number)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS manifest_by_file ON manifest (file);
CREATE TABLE IF NOT EXISTS sent (
    kind TEXT, number INTEGER, hash BLOB, here INTEGER,  -- whether by this writer, not by one that died
    PRIMARY KEY (kind, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS desired (
    kind TEXT, number INTEGER, file INTEGER, hash BLOB, size INTEGER, PRIMARY KEY (kind, number)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS desired_by_file ON desired (file);
CREATE TABLE IF NOT EXISTS changed_files (kind TEXT, file INTEGER, PRIMARY KEY (kind, file)) WITHOUT ROWID;
"""
_OF_TRANSACTION = ("sent", "desired", "changed_files")

# A row of the table: kind, number, file, born, hash and size.
Entry = tuple[str, int, int, int, bytes, int]


class Version(NamedTuple):
    """A version of a document that the cluster holds."""

    kind: str
    number: int
    born: int


class Manifest:
    """The tables of one connection to a mirror's database, in its transaction."""

    def __init__(self, connection: sqlite3.Connection, source: str) -> None:
        self._db, self._source = connection, source

    def set_file(self, key: str, documents: Sequence[Document]) -> list[Document]:
        """Replace all documents of a file; return those that must be sent."""
        return self._set(file_id(self._source, key), VERSIONED, documents)

    def set_documents(self, kind: str, file: int, documents: Sequence[Document]) -> list[Document]:
        """Replace the documents of one kind of a file; return those that must be sent."""
        return self._set(file, (kind,), documents)

    def _set(self, file: int, kinds: Iterable[str], documents: Sequence[Document]) -> list[Document]:
        self._clear(file, kinds)
        self._db.executemany(
            "INSERT OR REPLACE INTO desired VALUES (?,?,?,?,?)",
            [(d.kind, d.number, d.file, d.hash, int(d.body.get("size", 0))) for d in documents],
        )
        return [d for d in documents if not self._holds("manifest", d) and not self._holds("sent", d)]

    def _clear(self, file: int, kinds: Iterable[str]) -> None:
        for kind in kinds:
            self._db.execute("INSERT OR IGNORE INTO changed_files VALUES (?,?)", (kind, file))
            self._db.execute("DELETE FROM desired WHERE file=? AND kind=?", (file, kind))

    def _holds(self, table: str, document: Document) -> bool:
        query = f"SELECT 1 FROM {table} WHERE kind=? AND number=? AND hash=?"
        return self._db.execute(query, (document.kind, document.number, document.hash)).fetchone() is not None

    def replaced(self, documents: Iterable[Document]) -> dict[tuple[str, int], bool]:
        """Return which ids of documents were used in this transaction before, and whether by this writer."""
        query = "SELECT here FROM sent WHERE kind=? AND number=?"
        ids = ((each.kind, each.number) for each in documents)
        found = ((each, self._db.execute(query, each).fetchone()) for each in ids)
        return {each: bool(row[0]) for each, row in found if row}

    def add_sent(self, documents: Iterable[tuple[str, int, bytes]], by_this_writer: bool = True) -> None:
        """Add documents that were sent in this transaction, by this writer or by the one that began it."""
        rows = ((*document, by_this_writer) for document in documents)
        self._db.executemany("INSERT OR REPLACE INTO sent VALUES (?,?,?,?)", rows)

    def file_version(self, key: str) -> tuple[int, int | None]:
        """Return a file's id and the transaction of its newest document; None for the present one."""
        number = file_id(self._source, key)
        if self._db.execute("SELECT 1 FROM sent WHERE kind=? AND number=?", (FILES, number)).fetchone():
            return number, None
        query = "SELECT born FROM manifest WHERE kind=? AND number=?"
        row = self._db.execute(query, (FILES, number)).fetchone()
        return number, int(row[0]) if row else 0

    # Commit

    def delete_all_but(self, files: Collection[int]) -> bool:
        """Delete the documents of all other files; return whether there are any."""
        known = self._db.execute("SELECT DISTINCT file FROM manifest").fetchall()
        deleted = [file for (file,) in known if file not in files]
        for file in deleted:
            self._clear(file, VERSIONED)
        return bool(deleted)

    def deleted(self) -> list[Version]:
        """Return the versions that the cluster holds and this transaction deletes or replaces."""
        query = (
            "SELECT m.kind, m.number, m.born FROM manifest m"
            " JOIN changed_files t ON t.kind=m.kind AND t.file=m.file"
            " LEFT JOIN desired d ON d.kind=m.kind AND d.number=m.number"
            " WHERE d.number IS NULL OR d.hash<>m.hash"
        )
        return [Version(*row) for row in self._db.execute(query)]

    def obsolete(self) -> list[tuple[str, int]]:
        """Return the documents that were sent in this transaction and are not needed after all."""
        query = (
            "SELECT s.kind, s.number FROM sent s LEFT JOIN desired d ON d.kind=s.kind AND d.number=s.number"
            " LEFT JOIN manifest m ON m.kind=s.kind AND m.number=s.number"
            " WHERE d.number IS NULL OR d.hash<>s.hash OR m.hash IS d.hash"
        )
        return self._db.execute(query).fetchall()

    def remove_sent(self, documents: Iterable[tuple[str, int]]) -> None:
        """Remove documents from those sent."""
        self._db.executemany("DELETE FROM sent WHERE kind=? AND number=?", documents)

    def sent_counts(self) -> dict[str, int]:
        """Return how many documents were sent in this transaction, by kind."""
        return dict(self._db.execute("SELECT kind, count(*) FROM sent GROUP BY 1").fetchall())

    def sent(self) -> list[tuple[str, int]]:
        """Return the documents that were sent in this transaction."""
        return self._db.execute("SELECT kind, number FROM sent").fetchall()

    def apply(self, transaction: int, deleted: Sequence[Version]) -> None:
        """Bring the manifest to what the cluster holds after a transaction."""
        self._db.executemany(
            "DELETE FROM manifest WHERE kind=? AND number=? AND born=?",
            [(each.kind, each.number, each.born) for each in deleted],
        )
        self._db.execute(
            "INSERT OR REPLACE INTO manifest SELECT d.kind, d.number, d.file, ?, d.hash, d.size"
            " FROM sent s JOIN desired d ON d.kind=s.kind AND d.number=s.number",
            (transaction,),
        )

    def totals(self) -> dict[str, int]:
        """Return the number of files, symbols, names and source bytes."""
        counts = dict(self._db.execute("SELECT kind, count(*) FROM manifest GROUP BY 1").fetchall())
        query = "SELECT coalesce(sum(size), 0) FROM manifest WHERE kind=?"
        (size,) = self._db.execute(query, (FILES,)).fetchone()
        return {kind: counts.get(kind, 0) for kind in (FILES, SYMBOLS, NAMES)} | {"bytes": int(size)}

    def insert(self, entries: Iterable[Entry]) -> None:
        """Insert documents that the cluster holds."""
        self._db.executemany("INSERT OR REPLACE INTO manifest VALUES (?,?,?,?,?,?)", entries)

    def end_transaction(self) -> None:
        """Forget what the transaction sent and desired."""
        for table in _OF_TRANSACTION:
            self._db.execute(f"DELETE FROM {table}")
