"""What this machine remembers of one source on a cluster: to link, and to know what need not be sent.

A catalog without texts in the cache folder. It may be lost at any time: it counts only if it was left by the
very transaction that the cluster has as the source's last one, and is made anew from the cluster otherwise.
"""

from __future__ import annotations

import contextlib
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from dowse.config import cache_folder
from dowse.errors import DowseError
from dowse.storage.elastic.documents import Document, edges_document
from dowse.storage.elastic.ledger import TABLES, Ledger
from dowse.storage.elastic.names import file_number, number_of, symbol_rows
from dowse.storage.local.catalog import Catalog, RemovedFile
from dowse.storage.local.graph_tables import KINDS, GraphTables
from dowse.storage.protocol import NamedReference, ResolvedReference
from dowse.types import FileRecord

# Files whose references were looked at in this transaction.
_TABLES = "CREATE TABLE IF NOT EXISTS relinked (file_id INTEGER PRIMARY KEY)"
NOTED = "cluster_transaction"
# Only a writer that was given up for dead can be in the way.
_BUSY_MS = 1_000


class _RecordingGraph(GraphTables):
    """The graph's tables; what is linked anew is noted, for its documents are made from that."""

    def put_links(
        self,
        file_id: int,
        linked: Iterable[ResolvedReference],
        named: Iterable[NamedReference],
        asked: Iterable[int],
    ) -> None:
        super().put_links(file_id, linked, named, asked)
        self._db.execute("INSERT OR IGNORE INTO relinked VALUES (?)", (file_id,))

    def delete_file(self, file_id: int, gone: Sequence[int]) -> None:
        # Who refers to what goes: those edges go at once, and linking may not come by again.
        self._db.executemany(
            "INSERT OR IGNORE INTO relinked SELECT s.file_id FROM edges e JOIN symbols s ON s.id = e.source"
            " WHERE e.target = ?",
            [(row,) for row in gone],
        )
        super().delete_file(file_id, gone)


class Mirror(Catalog):
    """The catalog of one source, and the ledger of what the cluster has of it."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        super().__init__(connection, path)
        self.graph = _RecordingGraph(connection)
        self.slot, self.ledger = "", Ledger(connection, "")
        self._is_passing = False

    @classmethod
    def open(cls, path: Path, slot: str) -> Mirror:
        """Open the mirror at a place and begin a transaction; one that can't be read is made anew.

        Where a writer that was given up for dead still holds it, another place will do.
        """
        try:
            return cls._begun(path, slot)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            mirror = cls._begun(path.with_name(f"{uuid.uuid4().hex}.sqlite"), slot)
            mirror._is_passing = True
            return mirror

    @classmethod
    def _begun(cls, path: Path, slot: str) -> Mirror:
        try:
            mirror = cls.open_for_writing(path)
        except DowseError as error:
            if "locked" in str(error):
                raise sqlite3.OperationalError(str(error)) from error
            remove_mirror(path)
            mirror = cls.open_for_writing(path)
        assert isinstance(mirror, Mirror)  # noqa: S101 - the class method's type is its base's
        mirror.slot, mirror.ledger = slot, Ledger(mirror._db, slot)
        try:
            mirror._db.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
            mirror._db.execute("PRAGMA synchronous=NORMAL")  # what a power cut takes is made anew
            mirror._db.executescript(f"{TABLES}{_TABLES};")
            mirror.begin()
        except BaseException:
            mirror.close()
            raise
        return mirror

    def close(self) -> None:
        """Close the connection."""
        super().close()
        if self._is_passing:
            remove_mirror(self.path)

    def noted(self) -> int:
        """Return the transaction that this was left by; -1 for none."""
        return int(self.meta().get(NOTED, "-1"))

    def empty(self) -> None:
        """Forget everything."""
        tables = self._db.execute(
            "SELECT name FROM sqlite_master WHERE type='table' AND name<>'meta'"
        ).fetchall()
        for (table,) in tables:
            self._db.execute(f"DELETE FROM {table}")
        self._db.execute("DELETE FROM meta WHERE key=?", (NOTED,))

    def note(self, transaction: int) -> None:
        """End this transaction's part, and say which one it was."""
        self.ledger.forget_transaction()
        self._db.execute("DELETE FROM relinked")
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (NOTED, str(transaction)))
        self._db.execute("COMMIT")

    # The catalog, with the cluster's numbers

    def _rows_for(self, record: FileRecord, known: dict[str, int]) -> list[int]:
        return symbol_rows(self.slot, record.key, (symbol.key for symbol in record.symbols))

    def keep(self, record: FileRecord) -> None:
        """Add a file or replace it; its text stays out."""
        before = self.delete_file(record.key, replacement=record)
        self.put_file(record._replace(packed_text=b"", text=""), before)

    def forget(self, key: str) -> RemovedFile | None:
        """Remove a file."""
        return self.delete_file(key)

    def file_numbers(self) -> set[int]:
        """Return the ids of all files."""
        return {file_number(self.slot, key) for (key,) in self._db.execute("SELECT key FROM files")}

    def linked_documents(self) -> Iterator[tuple[int, list[Document]]]:
        """Give the files whose references were looked at, each with the documents of what they refer to."""
        for (file_id,) in self._db.execute("SELECT file_id FROM relinked").fetchall():
            row = self._db.execute("SELECT key, repo, path FROM files WHERE id=?", (file_id,)).fetchone()
            if row is not None:
                file = file_number(self.slot, row[0])
                yield file, self._edges_of(file_id, {"file": file, "repo": row[1], "path": row[2]})

    def _edges_of(self, file_id: int, place: dict[str, Any]) -> list[Document]:
        by_row: dict[int, tuple[list[Any], list[Any]]] = {}
        for which, (table, target, more) in enumerate(
            (("edges", "target", "candidates"), ("named", "name_key", "sure"))
        ):
            query = (
                f"SELECT e.source, e.kind, e.line, e.col, e.{target}, e.{more} FROM {table} e"
                f" JOIN symbols s ON s.id = e.source WHERE s.file_id=? ORDER BY 1, 3, 4, 2, 5"
            )
            for source, kind, *rest in self._db.execute(query, (file_id,)):
                by_row.setdefault(source, ([], []))[which].append((KINDS[kind], *rest))
        return [edges_document(self.slot, place, row, *both) for row, both in sorted(by_row.items())]

    # Made anew from the cluster

    def enter_edges(self, documents: Iterable[tuple[tuple[str, int, int, int, bytes, int], Any]]) -> None:
        """Enter what symbols refer to, with what their documents say of it."""
        numbers = {kind: number for number, kind in enumerate(KINDS)}
        for entry, data in documents:
            self.ledger.enter([entry])
            for table in ("edges", "named"):
                self._db.executemany(
                    f"INSERT OR IGNORE INTO {table} VALUES (?,?,?,?,?,?)",
                    [
                        (entry[1], line, col, numbers[kind], to, int(more))
                        for kind, line, col, to, more in data[table]
                    ],
                )
        # What linking asked is not known: as if nothing, until every file is linked again.
        self._db.execute("INSERT OR IGNORE INTO lookups SELECT file_id, x'' FROM facts")

    def relink_everything(self) -> None:
        """Note that every file is to be linked: what was asked when it was is not known here."""
        self._db.execute("INSERT OR IGNORE INTO graph_todo SELECT file_id FROM facts WHERE length(data) > 0")


def mirror_path(identity: str, slot: str) -> Path:
    """Return where the mirror of a source lies."""
    return cache_folder() / "mirrors" / f"{number_of(identity, slot):016x}" / "mirror.sqlite"


def remove_mirror(path: Path) -> None:
    """Remove a mirror, if there is one."""
    for ending in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        path.parent.rmdir()
