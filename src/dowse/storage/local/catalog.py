"""The catalog: files, their text, symbols and references in one SQLite database (write-ahead log)."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from dowse.damage import damage_error, is_write_error, lacks_pages
from dowse.errors import IndexMissing, IndexOutdated, IndexVersionError
from dowse.lazy_classes import NamedTuple
from dowse.security.safe_files import make_private_directory
from dowse.storage.local.batches import placeholders
from dowse.storage.local.graph_tables import SCHEMA as GRAPH_SCHEMA
from dowse.storage.local.graph_tables import GraphTables
from dowse.storage.local.layout import has_generations, has_no_locks
from dowse.storage.local.queries import CatalogQueries
from dowse.types import FileRecord, NameRecord, Span, SymbolRecord

# Raised whenever what is stored, or the tokenizer, changes.
FORMAT_VERSION = 15

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused: deletes by id in tantivy stay exact
    key TEXT NOT NULL UNIQUE,
    repo TEXT NOT NULL, path TEXT NOT NULL, language TEXT NOT NULL, role TEXT NOT NULL,
    size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, content_hash TEXT NOT NULL,
    encoding TEXT NOT NULL, lines INTEGER NOT NULL, problem TEXT NOT NULL
);
CREATE TABLE texts (file_id INTEGER PRIMARY KEY, text BLOB NOT NULL);
CREATE TABLE refs (file_id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE symbols (
    id INTEGER PRIMARY KEY,  -- negative for names, which have no text of their own
    key TEXT NOT NULL, file_id INTEGER NOT NULL, kind TEXT NOT NULL,
    name TEXT NOT NULL, qualified_name TEXT NOT NULL,  -- "" for a name without an owner
    start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    signature TEXT NOT NULL, doc TEXT NOT NULL, spans TEXT NOT NULL, content_hash TEXT NOT NULL,
    doc_spans TEXT NOT NULL,  -- "" for none
    vector_key BLOB NOT NULL,
    part INTEGER NOT NULL,
    scope_key INTEGER NOT NULL, name_key INTEGER NOT NULL,  -- keys that linking looks up; 0 for none
    overrides INTEGER NOT NULL  -- whether its name may be that of a class of another file
);
CREATE INDEX symbols_by_scope ON symbols (scope_key);
CREATE INDEX symbols_by_name_key ON symbols (name_key);
CREATE INDEX symbols_by_line ON symbols (file_id, start_line, end_line DESC);
CREATE INDEX symbols_by_name ON symbols (name COLLATE NOCASE);
CREATE TABLE skipped (path TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID;
"""

# The columns of a name from signature to part.
_NO_TEXT = ("", "", "", "", "", b"", 0)
# Names have the rows above this, and below 0.
_FIRST_NAME = -(1 << 31)
# Address space for the memory map: pages are read when they are touched.
_MAPPED_BYTES = 1 << 32
# How long a statement waits for another connection; writers exclude each other by the write lock.
_BUSY_MS = 5_000


class RemovedFile(NamedTuple):
    """A file as it was before it was removed."""

    file_id: int
    offers: Sequence[int]
    rows: dict[str, int]  # of its symbols, by key


class Catalog(CatalogQueries):
    """One connection to the catalog; readers use it inside `snapshot()`."""

    def __init__(self, connection: sqlite3.Connection, path: Path, *, is_immutable: bool = False) -> None:
        """Use a connection; an immutable one reads the file without locks, which nobody may change then."""
        super().__init__(connection)
        self.graph = GraphTables(connection)
        self.path, self.is_immutable = path, is_immutable
        self.identity = _identity(path, with_time=is_immutable)

    @classmethod
    def open_for_writing(cls, path: Path) -> Self:
        """Open the catalog, creating it if there is none."""
        make_private_directory(path.parent)
        db = _open_database(path.absolute().as_uri())
        try:
            db.execute("PRAGMA trusted_schema=OFF")
            db.execute("PRAGMA journal_mode=WAL")
            # The files of the old generation are removed after the commit, which must be on disk by then.
            db.execute("PRAGMA synchronous=FULL")
            db.execute("PRAGMA cache_size=-32000")
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name='meta'").fetchone():
                db.execute("BEGIN IMMEDIATE")
                for statement in re.sub(r"--[^\n]*", "", _SCHEMA + GRAPH_SCHEMA).split(";"):
                    db.execute(statement)
                db.execute("INSERT INTO meta VALUES ('format', ?)", (str(FORMAT_VERSION),))
                db.execute("INSERT INTO meta VALUES ('generation', '0')")
                db.execute("COMMIT")
        except sqlite3.DatabaseError:
            db.close()
            raise
        return cls(db, path)._checked()

    @classmethod
    def open_for_reading(cls, path: Path, *, is_mapped: bool = True) -> Self:
        """Open an existing catalog; also one in a folder that can't be written to.

        Mapped pages count as memory of every process that touched them: parser processes do without.
        """
        if not path.exists():
            raise _missing(path)
        uri = path.absolute().as_uri()
        try:
            return cls(_connect(f"{uri}?mode=ro", is_mapped), path)._checked()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname == "SQLITE_READONLY_ROLLBACK" and not has_generations(path.parent):
                raise _missing(path) from error  # the first writer did not come far
            can_write = not is_write_error(error) and not has_no_locks(path.parent, error)
            if os.access(path.parent, os.W_OK) and (can_write or _has_log(path)):
                raise
            # A read-only folder or full disk can't hold the shared memory of the write-ahead log; it has no
            # writer, and neither has a folder without locks.
            immutable = _connect(f"{uri}?immutable=1", is_mapped)
            return cls(immutable, path, is_immutable=True)._checked()

    def _checked(self) -> Self:
        try:
            # The schema has none; in an index from somebody else one could compute without end.
            foreign = self._db.execute("SELECT 1 FROM sqlite_master WHERE type IN ('view', 'trigger')")
            if foreign.fetchone():
                raise sqlite3.DatabaseError("it has views or triggers")
            meta = self.meta()
            version = meta.get("format", "?")
        except sqlite3.DatabaseError as error:
            self._db.close()
            if "no such table" in str(error) and not has_generations(self.path.parent):
                raise _missing(self.path) from error  # the first writer did not come far
            raise
        if version != str(FORMAT_VERSION):
            self._db.close()
            is_older = version.isdigit() and int(version) < FORMAT_VERSION
            message = (
                f"the index in {self.path.parent} has format {version}, this dowse reads {FORMAT_VERSION}; "
            )
            if is_older:
                raise IndexOutdated(message + "run `dowse index --rebuild`")
            raise IndexVersionError(
                message + "upgrade dowse, name another folder with --index-dir, or replace the index with "
                "`dowse index --rebuild`"
            )
        if self._is_truncated():
            self._db.close()
            raise damage_error(self.path.parent, "its end is missing")
        return self

    def _is_truncated(self) -> bool:
        """Whether the file lacks pages."""
        if _has_log(self.path):
            return False  # the newest pages may still be in the log
        try:
            return lacks_pages(self._db, self.path)
        except FileNotFoundError:
            raise _missing(self.path) from None  # somebody has just removed it

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection, for readers of its snapshot."""
        return self._db

    def is_current(self) -> bool:
        """Whether the file that is open is still the one at the path, and as it was if it is immutable."""
        return self.identity is not None and self.identity == _identity(
            self.path, with_time=self.is_immutable
        )

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[int]:
        """Read from one generation (snapshot isolation); yields its number."""
        self._db.execute("BEGIN")
        try:
            yield self.generation()
        finally:
            self._db.execute("COMMIT")

    def begin(self) -> None:
        """Start the transaction of a new generation."""
        self._db.execute("BEGIN IMMEDIATE")

    def empty(self) -> None:
        """Remove all content within the transaction; readers do not see that before it is committed."""
        kept = ("format", "generation", "repo")
        tables = self._db.execute("SELECT name FROM sqlite_master WHERE type='table' AND name != 'meta'")
        for (table,) in tables.fetchall():
            if not table.startswith("sqlite_"):
                self._db.execute(f"DELETE FROM {table}")
        self._db.execute(f"DELETE FROM meta WHERE key NOT IN ({placeholders(len(kept))})", kept)

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._db.in_transaction

    def commit(self, generation: int, meta: Mapping[str, str]) -> None:
        """Make the new generation visible to readers."""
        values = {**meta, "generation": str(generation)}
        self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())
        self._db.execute("COMMIT")
        self.empty_log()

    def replace_meta(self, meta: Mapping[str, str]) -> None:
        """Replace the description of the generation."""
        self.begin()
        self._db.execute("DELETE FROM meta")
        self.commit(int(meta["generation"]), meta)

    def copy_to(self, path: Path) -> None:
        """Copy the generation this snapshot sees to another file."""
        with contextlib.closing(sqlite3.connect(path)) as target:
            self._db.backup(target)

    def replace_by(self, other: Catalog) -> None:
        """Make the content of another catalog visible to readers in the place of this one's."""
        other.connection.backup(self._db)
        self.empty_log()

    def empty_log(self) -> bool:
        """Move what is committed out of the write-ahead log and empty it; False if that can't be done now.

        Active readers keep the log as it is; then the next commit does it. Nobody waits.
        """
        is_busy = 1
        with contextlib.suppress(sqlite3.OperationalError):
            self._db.execute("PRAGMA busy_timeout=0")
            is_busy = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        self._db.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
        return not is_busy

    def rollback(self) -> None:
        """Roll back the transaction of the new generation."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def generation(self) -> int:
        """Return the generation this snapshot sees."""
        row = self._db.execute("SELECT value FROM meta WHERE key='generation'").fetchone()
        if row is None or not str(row[0]).isdecimal():
            raise sqlite3.DatabaseError("it names no generation")
        return int(row[0])

    def put_file(self, record: FileRecord, before: RemovedFile | None = None) -> tuple[int, list[int]]:
        """Add one file with its symbols and names; return its id and the rows of its symbols.

        `before` is the file that this one replaces: a symbol or name with the same key keeps its row, so
        that edges from other files stay valid.
        """
        self.graph.note_change(before.offers if before else (), record.offers)
        cursor = self._db.execute(
            "INSERT INTO files (key, repo, path, language, role, size, mtime_ns, content_hash, encoding,"
            " lines, problem) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
            record[:11],
        )
        file_id = int(cursor.lastrowid or 0)
        self._db.execute("INSERT INTO texts VALUES (?, ?)", (file_id, record.packed_text))
        if record.references:
            self._db.execute("INSERT INTO refs VALUES (?, ?)", (file_id, record.references))
        known = dict(before.rows) if before else {}
        rows = self._rows_for(record.key, [symbol.key for symbol in record.symbols], known)
        self._db.executemany(
            f"INSERT INTO symbols VALUES ({placeholders(18)})",
            [_symbol_values(row, file_id, each) for row, each in zip(rows, record.symbols, strict=True)],
        )
        if record.names:
            names = self._rows_for(record.key, [name.key for name in record.names], known, of_names=True)
            self._db.executemany(
                f"INSERT INTO symbols VALUES ({placeholders(18)})",
                [_name_values(row, file_id, each) for row, each in zip(names, record.names, strict=True)],
            )
        self.graph.put_file(file_id, record, rows)
        return file_id, rows

    def _rows_for(
        self, file_key: str, keys: Sequence[str], known: Mapping[str, int], *, of_names: bool = False
    ) -> list[int]:
        """Return a row for every symbol or name: the one it had, or a new one.

        Those of names ascend, too: descending ones would leave the pages of the table half empty.
        """
        first, condition = (_FIRST_NAME, " WHERE id<0") if of_names else (0, "")
        own = {key: row for key, row in known.items() if (row < 0) == of_names}
        (last,) = self._db.execute(f"SELECT max(id) FROM symbols{condition}").fetchone()
        last = max(first, last or first, *own.values())
        rows = []
        for key in keys:
            row = own.pop(key, 0)
            if not row:
                last = row = last + 1
            rows.append(row)
        return rows

    def delete_file(self, key: str, replacement: FileRecord | None = None) -> RemovedFile | None:
        """Remove a file and all that belongs to it; return what `put_file` of its replacement needs.

        Edges to symbols that `replacement` has too are kept.
        """
        row = self._db.execute("SELECT id FROM files WHERE key=?", (key,)).fetchone()
        if row is None:
            return None
        symbols = self._db.execute("SELECT key, id FROM symbols WHERE file_id=?", row).fetchall()
        removed = RemovedFile(int(row[0]), self.graph.offers(row[0]), dict(symbols))
        keep = {symbol.key for symbol in replacement.symbols} if replacement else set()
        keep |= {name.key for name in replacement.names} if replacement else set()
        self.graph.delete_file(removed.file_id, [each for name, each in symbols if name not in keep])
        if replacement is None:
            self.graph.note_change(removed.offers, ())
        for table in ("symbols", "texts", "refs"):
            self._db.execute(f"DELETE FROM {table} WHERE file_id=?", row)
        self._db.execute("DELETE FROM files WHERE id=?", row)
        return removed

    def touch_file(self, key: str, size: int, mtime_ns: int) -> None:
        """Record new size and time of a file with the same content."""
        self._db.execute("UPDATE files SET size=?, mtime_ns=? WHERE key=?", (size, mtime_ns, key))

    def set_skipped(self, skipped: Iterable[tuple[str, str]]) -> None:
        """Replace the list of skipped paths."""
        self._db.execute("DELETE FROM skipped")
        self._db.executemany("INSERT OR REPLACE INTO skipped VALUES (?, ?)", skipped)


def _symbol_values(row: int, file_id: int, s: SymbolRecord) -> tuple[object, ...]:
    """Return the columns of a symbol."""
    doc_spans = _spans_text(s.doc_spans) if s.doc_spans else ""
    return (
        *(row, s.key, file_id, s.kind, s.name, s.qualified_name, s.start_line, s.end_line, s.signature),
        *(s.doc, _spans_text(s.spans), s.content_hash, doc_spans, s.vector_key),
        *(s.part, s.scope_key, s.name_key, int(s.overrides)),
    )


def _spans_text(spans: Iterable[Span]) -> str:
    """Return spans as JSON, without the time that `json` takes for each of many thousands."""
    return "[" + ", ".join([f"[{start}, {end}]" for start, end in spans]) + "]"


def _name_values(row: int, file_id: int, n: NameRecord) -> tuple[object, ...]:
    """Return the columns of a name, which has no text of its own."""
    full_name = "" if n.qualified_name == n.name else n.qualified_name
    named = (row, n.key, file_id, n.kind, n.name, full_name, n.line, n.line)
    return (*named, *_NO_TEXT, n.scope_key, n.name_key, 0)


def _missing(path: Path) -> IndexMissing:
    return IndexMissing(f"no index in {path.parent}; run `dowse index` first")


def _identity(path: Path, *, with_time: bool) -> tuple[int, ...] | None:
    """Return device and inode number of a file; the number is not reused while the file is open."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return (stat.st_dev, stat.st_ino, *((stat.st_size, stat.st_mtime_ns) if with_time else ()))


def _has_log(path: Path) -> bool:
    """Whether there may be pages in the write-ahead log that are not in the catalog yet."""
    try:
        return path.with_name(path.name + "-wal").stat().st_size > 0
    except FileNotFoundError:
        return False


def _connect(uri: str, is_mapped: bool) -> sqlite3.Connection:
    db = _open_database(uri)
    db.execute("PRAGMA trusted_schema=OFF")  # an index may come from anybody: no functions in its schema
    # Memory-mapped: a reader touches pages all over the file, without a system call for each.
    db.execute(f"PRAGMA mmap_size={_MAPPED_BYTES}" if is_mapped else "PRAGMA cache_size=-32000")
    if not is_mapped:
        db.execute("PRAGMA temp_store=MEMORY")  # processes that link may not write files
    return db


def _open_database(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
