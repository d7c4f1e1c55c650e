"""A local mirror of one source on a cluster: what linking needs, and the manifest of what is there.

It is a catalog without texts in the cache folder, and may be lost at any time: it is valid only if its last
transaction is the source's last one on the cluster, and is rebuilt from the cluster otherwise.
"""

from __future__ import annotations

import contextlib
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dowse.config import cache_folder
from dowse.errors import DowseError
from dowse.storage.elastic.documents import HEAVY_FIELDS, Document, edges_document, records
from dowse.storage.elastic.manifest import TABLES, Entry, Manifest
from dowse.storage.elastic.names import (
    EDGES,
    FILES,
    ID_FIELD,
    NAMES,
    SYMBOLS,
    SYMBOLS_AND_NAMES,
    VERSIONED,
    file_id,
    hash_id,
    symbol_rows,
)
from dowse.storage.elastic.snapshot import SnapshotSearcher
from dowse.storage.local.catalog import Catalog
from dowse.storage.local.graph_tables import KINDS, GraphTables
from dowse.storage.protocol import NamedReference, ResolvedReference
from dowse.types import FileRecord

# Files whose references were linked in this transaction.
_TABLES = "CREATE TABLE IF NOT EXISTS relinked (file_id INTEGER PRIMARY KEY)"
_LAST_TRANSACTION = "mirrored_transaction"
# Only a writer whose lease has expired can hold the database.
_BUSY_MS = 1_000
# What identifies a version of a document.
VERSION_FIELDS = ["row", "file", "born", "hash", "size"]


class _RecordingGraph(GraphTables):
    """The graph's tables; records which files are linked again, because their documents change."""

    def put_links(
        self,
        file_id: int,
        linked: Iterable[ResolvedReference],
        named: Iterable[NamedReference],
        dependencies: Iterable[int],
    ) -> None:
        super().put_links(file_id, linked, named, dependencies)
        self._db.execute("INSERT OR IGNORE INTO relinked VALUES (?)", (file_id,))

    def delete_file(self, file_id: int, gone: Sequence[int]) -> None:
        # Edges into deleted symbols are deleted at once, and linking may not visit their files again.
        self._db.executemany(
            "INSERT OR IGNORE INTO relinked SELECT s.file_id FROM edges e JOIN symbols s ON s.id = e.source"
            " WHERE e.target = ?",
            [(row,) for row in gone],
        )
        users = self.uses.users(frozenset(gone))
        self._db.executemany("INSERT OR IGNORE INTO relinked VALUES (?)", [(user,) for user in users])
        super().delete_file(file_id, gone)


class Mirror(Catalog):
    """The catalog of one source, and the manifest of what the cluster holds of it."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        super().__init__(connection, path)
        self.graph = _RecordingGraph(connection)
        self.source, self.manifest = "", Manifest(connection, "")
        self._is_temporary = False

    @classmethod
    def open(cls, path: Path, source: str) -> Mirror:
        """Open the mirror at a path and begin a transaction; an unreadable one is created anew.

        Where a writer whose lease has expired still holds it, a temporary mirror is used.
        """
        try:
            return cls._open(path, source)
        except (sqlite3.OperationalError, DowseError) as error:
            if _is_locked(error) or _is_locked(error.__cause__):
                mirror = cls._open(path.with_name(f"{uuid.uuid4().hex}.sqlite"), source)
                mirror._is_temporary = True
                return mirror
            if not isinstance(error, DowseError):
                raise
            remove_mirror(path)
            return cls._open(path, source)

    @classmethod
    def _open(cls, path: Path, source: str) -> Mirror:
        mirror = cls.open_for_writing(path)
        mirror.source, mirror.manifest = source, Manifest(mirror._db, source)
        try:
            mirror._db.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
            mirror._db.execute("PRAGMA synchronous=NORMAL")  # what a power cut loses is rebuilt
            mirror._db.executescript(f"{TABLES}{_TABLES};")
            mirror.begin()
        except BaseException:
            mirror.close()
            raise
        return mirror

    def close(self) -> None:
        """Close the connection."""
        super().close()
        if self._is_temporary:
            remove_mirror(self.path)

    def last_transaction(self) -> int:
        """Return the transaction whose result this is; -1 for none."""
        return int(self.meta().get(_LAST_TRANSACTION, "-1"))

    def empty(self) -> None:
        """Delete everything."""
        tables = self._db.execute(
            "SELECT name FROM sqlite_master WHERE type='table' AND name<>'meta'"
        ).fetchall()
        for (table,) in tables:
            self._db.execute(f"DELETE FROM {table}")
        self._db.execute("DELETE FROM meta WHERE key=?", (_LAST_TRANSACTION,))

    def commit_transaction(self, transaction: int) -> None:
        """Commit as the result of a transaction, and begin the next."""
        self.manifest.end_transaction()
        self._db.execute("DELETE FROM relinked")
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_LAST_TRANSACTION, str(transaction)))
        self._db.execute("COMMIT")
        self.begin()

    # The catalog, with the cluster's numbers

    def _rows_for(
        self, file_key: str, keys: Sequence[str], known: Mapping[str, int], *, of_names: bool = False
    ) -> list[int]:
        rows = symbol_rows(self.source, file_key, keys)
        return [-row for row in rows] if of_names else rows

    def replace_file(self, record: FileRecord) -> None:
        """Add a file or replace it, without its text."""
        before = self.delete_file(record.key, replacement=record)
        self.put_file(record._replace(packed_text=b"", text=""), before)

    def file_ids(self) -> set[int]:
        """Return the ids of all files on the cluster."""
        return {file_id(self.source, key) for (key,) in self._db.execute("SELECT key FROM files")}

    def relinked_documents(self) -> Iterator[tuple[int, list[Document]]]:
        """Yield the files that were linked in this transaction, each with the documents of its references."""
        for (local_id,) in self._db.execute("SELECT file_id FROM relinked").fetchall():
            row = self._db.execute("SELECT key, repo, path FROM files WHERE id=?", (local_id,)).fetchone()
            if row is not None:
                file = file_id(self.source, row[0])
                yield file, self._edges_of(local_id, {"file": file, "repo": row[1], "path": row[2]})

    def _edges_of(self, local_id: int, location: dict[str, Any]) -> list[Document]:
        by_row: dict[int, tuple[list[Any], list[Any]]] = {}
        for which, (table, target, more) in enumerate(
            (("edges", "target", "candidates"), ("named", "name_key", "reason"))
        ):
            query = (
                f"SELECT e.source, e.kind, e.line, e.col, e.{target}, e.{more} FROM {table} e"
                f" JOIN symbols s ON s.id = e.source WHERE s.file_id=? ORDER BY 1, 3, 4, 2, 5"
            )
            for source, kind, *columns in self._db.execute(query, (local_id,)):
                by_row.setdefault(source, ([], []))[which].append((KINDS[kind], *columns))
        for line, column, source, kind, is_named, detail, end in self.graph.uses.edges(local_id):
            by_row.setdefault(source, ([], []))[is_named].append((KINDS[kind], line, column, end, detail))
        return [edges_document(self.source, location, row, *both) for row, both in sorted(by_row.items())]

    # Rebuilding from the cluster

    def rebuild(self, searcher: SnapshotSearcher, with_files: bool) -> None:
        """Fill an empty mirror: the manifest always, all else unless it will be put again."""
        own = {"term": {"source": self.source}}
        if not with_files:
            for kind in VERSIONED:
                hits = searcher.scan(kind, own, ID_FIELD[kind], source=VERSION_FIELDS)
                self.manifest.insert(_entry(kind, hit["_source"]) for hit in hits)
            return
        symbols = searcher.scan(SYMBOLS_AND_NAMES, own, "file", source={"excludes": HEAVY_FIELDS})
        files = searcher.scan(FILES, own, "file", source={"excludes": ["data.text"]})
        for record, body, symbol_bodies in records(files, symbols):
            entries = (_entry(SYMBOLS if each["row"] > 0 else NAMES, each) for each in symbol_bodies)
            self.manifest.insert([_entry(FILES, body), *entries])
            self.replace_file(record)
        for hit in searcher.scan(EDGES, own, "row", source=[*VERSION_FIELDS, "data"]):
            self.manifest.insert([_entry(EDGES, hit["_source"])])
            self._insert_edges(hit["_source"]["row"], hit["_source"]["data"])
        # The lookups of linking are not stored on the cluster: they count as none until a file is linked, so
        # all files are linked again.
        self._db.execute("INSERT OR IGNORE INTO lookups SELECT file_id, x'' FROM facts")
        self._db.execute("INSERT OR IGNORE INTO graph_todo SELECT file_id FROM facts WHERE length(data) > 0")

    def _insert_edges(self, row: int, data: Mapping[str, Any]) -> None:
        """Insert the references of one symbol, from the `data` of their document."""
        for table in ("edges", "named"):
            self._db.executemany(
                f"INSERT OR IGNORE INTO {table} VALUES (?,?,?,?,?,?)",
                [
                    (row, line, col, KINDS.index(kind), to, int(more))
                    for kind, line, col, to, more in data[table]
                ],
            )


def _entry(kind: str, body: Mapping[str, Any]) -> Entry:
    number, file = int(body[ID_FIELD[kind]]), int(body["file"])
    return kind, number, file, int(body["born"]), bytes.fromhex(body["hash"]), int(body.get("size", 0))


def _is_locked(error: BaseException | None) -> bool:
    """Whether another connection holds the database."""
    # Extended codes have the primary one in their low byte.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def mirror_path(identity: str, source: str) -> Path:
    """Return the path of the mirror of a source."""
    return cache_folder() / "mirrors" / f"{hash_id(identity, source):016x}" / "mirror.sqlite"


def remove_mirror(path: Path) -> None:
    """Remove a mirror, if there is one."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        path.parent.rmdir()
