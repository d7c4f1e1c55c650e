"""The catalog: files, their text, symbols and references in one SQLite database."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dowse.errors import IndexMissing, IndexVersionError
from dowse.parsing.spans import subtract_spans
from dowse.security.safe_files import make_private_directory
from dowse.storage.local.compression import unpack
from dowse.storage.local.graph_tables import SCHEMA as GRAPH_SCHEMA
from dowse.storage.local.graph_tables import GraphTables, unpack_references
from dowse.storage.local.layout import damaged, hindered
from dowse.storage.local.tree_tables import SCHEMA as TREE_SCHEMA
from dowse.storage.local.tree_tables import TreeTables
from dowse.types import Extents, FileRecord, FileStamp, Reference, Span, StoredFile, SymbolRecord, SymbolRow

# Raised whenever what is stored, or how it is tokenised, changes.
FORMAT_VERSION = 5

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used again: deletes by id in tantivy stay exact
    key TEXT NOT NULL UNIQUE,
    repo TEXT NOT NULL, path TEXT NOT NULL, language TEXT NOT NULL, role TEXT NOT NULL,
    size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, content_hash TEXT NOT NULL,
    encoding TEXT NOT NULL, lines INTEGER NOT NULL, problem TEXT NOT NULL,
    node INTEGER NOT NULL  -- of the tree
);
CREATE TABLE texts (file_id INTEGER PRIMARY KEY, text BLOB NOT NULL);
CREATE TABLE refs (file_id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE symbols (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL, file_id INTEGER NOT NULL, kind TEXT NOT NULL,
    name TEXT NOT NULL, qualified_name TEXT NOT NULL,
    start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    signature TEXT NOT NULL, doc TEXT NOT NULL, spans TEXT NOT NULL, content_hash TEXT NOT NULL,
    doc_spans TEXT NOT NULL,  -- "" for none
    vector_key BLOB NOT NULL,
    part INTEGER NOT NULL,
    scope_key INTEGER NOT NULL, name_key INTEGER NOT NULL,  -- where linking looks for it; 0 for nowhere
    overrides INTEGER NOT NULL,  -- whether its name may be that of a class defined elsewhere
    leaf INTEGER NOT NULL  -- which of the symbols of its node it is
);
CREATE INDEX symbols_by_scope ON symbols (scope_key);
CREATE INDEX symbols_by_name_key ON symbols (name_key);
CREATE INDEX symbols_by_place ON symbols (file_id, start_line, end_line DESC);
CREATE INDEX symbols_by_name ON symbols (name COLLATE NOCASE);
CREATE TABLE skipped (path TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID;
"""

_ROW_SELECT = (
    "SELECT s.id, s.key, f.repo, f.path, f.language, f.role, s.kind, s.name, s.qualified_name, "
    "s.start_line, s.end_line, s.signature, s.file_id"
    " FROM symbols s JOIN files f ON f.id = s.file_id"
)
# SQLite's default limit on bound values is far above this; smaller statements stay in its cache.
_BATCH = 500
# Only address space: pages are read when they are touched.
_MAPPED_BYTES = 1 << 32
# How long a statement waits for another connection: writers exclude each other by the folder's lock.
_BUSY_MS = 5_000


class SymbolDetails(NamedTuple):
    """What a symbol has besides its row."""

    doc: str
    spans: list[list[int]]
    content_hash: str


class Removed(NamedTuple):
    """What a file was before it was removed."""

    file_id: int
    offers: Sequence[int]
    rows: dict[str, int]  # of its symbols, by key


class Catalog:
    """One connection to the catalog; the caller brackets reads with `snapshot()`."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._db = connection
        self.graph = GraphTables(connection)
        self.tree = TreeTables(connection)
        self.path = path
        self.identity = _identity(path)

    @classmethod
    def open_for_writing(cls, path: Path) -> Catalog:
        """Open the catalog, creating it if there is none."""
        make_private_directory(path.parent)
        db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA trusted_schema=OFF")
            db.execute("PRAGMA journal_mode=WAL")
            # The old generation's files go once the new one is committed: the commit must be on disk.
            db.execute("PRAGMA synchronous=FULL")
            db.execute("PRAGMA cache_size=-32000")
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name='meta'").fetchone():
                db.execute("BEGIN IMMEDIATE")
                for statement in re.sub(r"--[^\n]*", "", _SCHEMA + GRAPH_SCHEMA + TREE_SCHEMA).split(";"):
                    db.execute(statement)
                db.execute("INSERT INTO meta VALUES ('format', ?)", (str(FORMAT_VERSION),))
                db.execute("INSERT INTO meta VALUES ('generation', '0')")
                db.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            db.close()
            raise hindered(path.parent, error) or damaged(path.parent, error) from error
        return cls(db, path)._checked()

    @classmethod
    def open_for_reading(cls, path: Path) -> Catalog:
        """Open an existing catalog; also one in a folder that can't be written to."""
        if not path.exists():
            raise IndexMissing(f"no index in {path.parent}; run `dowse index` first")
        try:
            return cls(_connect(f"file:{_quoted(path)}?mode=ro"), path)._checked()
        except sqlite3.OperationalError:
            if os.access(path.parent, os.W_OK):
                raise
            # A read-only folder can't hold the write-ahead log's shared memory, and so no writer either.
            return cls(_connect(f"file:{_quoted(path)}?immutable=1"), path)._checked()

    def _checked(self) -> Catalog:
        try:
            # None of ours has any; in a copied index one could compute without end.
            foreign = self._db.execute("SELECT 1 FROM sqlite_master WHERE type IN ('view', 'trigger')")
            if foreign.fetchone():
                raise sqlite3.DatabaseError("it has views or triggers")
            version = self.meta().get("format", "?")
        except sqlite3.OperationalError as error:
            self._db.close()
            if "no such table" in str(error):
                raise damaged(self.path.parent, error) from error
            raise
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise damaged(self.path.parent, error) from error
        if version != str(FORMAT_VERSION):
            self._db.close()
            raise IndexVersionError(
                f"the index in {self.path.parent} has format {version}, this dowse reads {FORMAT_VERSION}; "
                "run `dowse index --rebuild`"
            )
        if self._is_cut_short():
            self._db.close()
            raise damaged(self.path.parent, "its end is missing")
        return self

    def _is_cut_short(self) -> bool:
        """Whether the file lacks pages: SQLite reads half a page that is missing as zeros, without a word."""
        (pages,) = self._db.execute("PRAGMA page_count").fetchone()
        (page_size,) = self._db.execute("PRAGMA page_size").fetchone()
        log = self.path.with_name(self.path.name + "-wal")
        if log.exists() and log.stat().st_size:
            return False  # the newest pages may still be in the log
        return self.path.stat().st_size < int(pages) * int(page_size)

    def is_current(self) -> bool:
        """Whether the file that is open is still the one at the path."""
        return self.identity is not None and self.identity == _identity(self.path)

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[int]:
        """Read everything inside from one generation, whose number is given."""
        self._db.execute("BEGIN")
        try:
            yield self.generation()
        finally:
            self._db.execute("COMMIT")

    def begin(self) -> None:
        """Start the transaction of a new generation."""
        self._db.execute("BEGIN IMMEDIATE")

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._db.in_transaction

    def commit(self, generation: int, meta: dict[str, str]) -> None:
        """Make the new generation the one that readers see."""
        values = {**meta, "generation": str(generation)}
        self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())
        self._db.execute("COMMIT")
        # Readers at work keep the log from being folded in: then the next commit does it, nobody waits.
        with contextlib.suppress(sqlite3.OperationalError):
            self._db.execute("PRAGMA busy_timeout=0")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.execute(f"PRAGMA busy_timeout={_BUSY_MS}")

    def rollback(self) -> None:
        """Forget the transaction of the new generation."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def meta(self) -> dict[str, str]:
        """Return every key of the index's own description."""
        return dict(self._db.execute("SELECT key, value FROM meta"))

    def is_corpus(self) -> bool:
        """Whether it holds functions from many places, rather than the files of a tree."""
        return self.meta().get("corpus") == "1"

    def generation(self) -> int:
        """Return the generation this snapshot sees."""
        row = self._db.execute("SELECT value FROM meta WHERE key='generation'").fetchone()
        return int(row[0])

    # Writing

    def put_file(self, record: FileRecord, before: Removed | None = None) -> tuple[int, list[int]]:
        """Add one file with its symbols; return its id and their rows.

        `before` is what the file was until now: a symbol whose key was there keeps its row, so that edges
        from other files go on pointing at it.
        """
        self.graph.note_change(before.offers if before else (), record.offers)
        cursor = self._db.execute(
            "INSERT INTO files (key, repo, path, language, role, size, mtime_ns, content_hash, encoding,"
            " lines, problem, node) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
            (*record[:11], self.tree.node_of(record.repo, record.path)),
        )
        file_id = int(cursor.lastrowid or 0)
        self._db.execute("INSERT INTO texts VALUES (?, ?)", (file_id, record.packed_text))
        if record.references:
            self._db.execute("INSERT INTO refs VALUES (?, ?)", (file_id, record.references))
        rows = self._rows_for(record, dict(before.rows) if before else {})
        self._db.executemany(
            f"INSERT INTO symbols VALUES ({','.join('?' * 19)})",
            [
                (*_symbol_values(row, file_id, symbol), leaf)
                for leaf, (row, symbol) in enumerate(zip(rows, record.symbols, strict=True))
            ],
        )
        self.graph.put_file(file_id, record, rows)
        return file_id, rows

    def _rows_for(self, record: FileRecord, known: dict[str, int]) -> list[int]:
        """Return a row for every symbol: the one it had, or one that nobody has or is about to get again."""
        (last,) = self._db.execute("SELECT coalesce(max(id), 0) FROM symbols").fetchone()
        last = max(last, *known.values()) if known else last
        rows = []
        for symbol in record.symbols:
            row = known.pop(symbol.key, 0)
            if not row:
                last = row = last + 1
            rows.append(row)
        return rows

    def delete_file(self, key: str, instead: FileRecord | None = None) -> Removed | None:
        """Remove one file and all that belongs to it; return what it was, for `put_file` of another instead.

        Edges to symbols that come back with that one stay.
        """
        found = self._db.execute("SELECT id, node FROM files WHERE key=?", (key,)).fetchone()
        if found is None:
            return None
        row = found[:1]
        self.tree.touch(found[1])
        symbols = self._db.execute("SELECT key, id FROM symbols WHERE file_id=?", row).fetchall()
        removed = Removed(int(row[0]), self.graph.offers(row[0]), dict(symbols))
        keep = {symbol.key for symbol in instead.symbols} if instead else set()
        self.graph.delete_file(removed.file_id, [each for name, each in symbols if name not in keep])
        if instead is None:
            self.graph.note_change(removed.offers, ())
        for table in ("symbols", "texts", "refs"):
            self._db.execute(f"DELETE FROM {table} WHERE file_id=?", row)
        self._db.execute("DELETE FROM files WHERE id=?", row)
        return removed

    def touch_file(self, key: str, size: int, mtime_ns: int) -> None:
        """Note that a file was saved without a change."""
        self._db.execute("UPDATE files SET size=?, mtime_ns=? WHERE key=?", (size, mtime_ns, key))

    def set_skipped(self, skipped: Iterable[tuple[str, str]]) -> None:
        """Replace the list of what is left out, and why."""
        self._db.execute("DELETE FROM skipped")
        self._db.executemany("INSERT OR REPLACE INTO skipped VALUES (?, ?)", skipped)

    # Reading

    def stamps(self) -> dict[str, FileStamp]:
        """Return size, time and content hash of every file, by key."""
        rows = self._db.execute("SELECT key, size, mtime_ns, content_hash FROM files")
        return {key: FileStamp(size, mtime, digest) for key, size, mtime, digest in rows}

    def skipped(self) -> list[tuple[str, str]]:
        """Return what is left out, and why."""
        return self._db.execute("SELECT path, reason FROM skipped ORDER BY path").fetchall()

    def files(self) -> list[StoredFile]:
        """Return every file of the index."""
        rows = self._db.execute(
            "SELECT f.id, f.repo, f.path, f.language, f.role, f.size, f.mtime_ns, f.encoding, f.lines,"
            " f.problem, (SELECT count(*) FROM symbols s WHERE s.file_id = f.id) FROM files f ORDER BY f.path"
        )
        return [StoredFile(*row) for row in rows]

    def counts(self) -> dict[str, int]:
        """Return how many files and symbols there are, and the bytes of source text."""
        files, size = self._db.execute("SELECT count(*), coalesce(sum(size), 0) FROM files").fetchone()
        (symbols,) = self._db.execute("SELECT count(*) FROM symbols").fetchone()
        (skipped,) = self._db.execute("SELECT count(*) FROM skipped").fetchone()
        return {"files": files, "symbols": symbols, "bytes": size, "skipped": skipped}

    def languages(self) -> dict[str, int]:
        """Return the number of files per language, most first."""
        return dict(
            self._db.execute("SELECT language, count(*) FROM files GROUP BY 1 ORDER BY 2 DESC, 1").fetchall()
        )

    def rows(self, ids: Sequence[int]) -> list[SymbolRow]:
        """Return the symbols with these ids, in the order asked; ids that are gone are left out."""
        found = {row[0]: SymbolRow(*row) for row in self._among(ids, f"{_ROW_SELECT} WHERE s.id IN ({{}})")}
        return [found[i] for i in ids if i in found]

    def rows_of_files(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        """Return all symbols of some files, in the order of their lines."""
        query = f"{_ROW_SELECT} WHERE s.file_id IN ({{}}) ORDER BY s.file_id, s.start_line, s.end_line DESC"
        return [SymbolRow(*row) for row in self._among(file_ids, query)]

    def extents(self, file_ids: Sequence[int]) -> Iterator[tuple[int, Extents]]:
        """Give, for each file, where its symbols lie: by first line, outer before inner."""
        found: dict[int, Extents] = {file_id: Extents([], [], []) for file_id in file_ids}
        query = (
            "SELECT file_id, id, start_line, end_line FROM symbols WHERE file_id IN ({})"
            " ORDER BY file_id, start_line, end_line DESC"
        )
        for file_id, row, first, last in self._among(file_ids, query):
            extents = found[file_id]
            extents.rows.append(row)
            extents.starts.append(first)
            extents.ends.append(last)
        yield from found.items()

    def file_rows(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        """Return files as if each were one symbol of kind "file" around all its lines."""
        found: list[SymbolRow] = []
        query = "SELECT id, key, repo, path, language, role, lines FROM files WHERE id IN ({})"
        for file_id, key, repo, path, language, role, lines in self._among(file_ids, query):
            name = path.rpartition("/")[2]
            place = (0, f"file:{key}", repo, path, language, role, "file", name, name)
            found.append(SymbolRow(*place, 1, max(1, lines), "", file_id))
        return found

    def _among(self, ids: Sequence[int] | Sequence[str], query: str) -> Iterator[Any]:
        """Run a query whose `{}` stands for the ids, some of them at a time."""
        for start in range(0, len(ids), _BATCH):
            batch = ids[start : start + _BATCH]
            yield from self._db.execute(query.format(",".join("?" * len(batch))), batch)

    def rows_like(self, pattern: str, limit: int) -> list[SymbolRow]:
        """Return the symbols whose name or qualified name matches a LIKE pattern, shortest names first."""
        query = (
            f"{_ROW_SELECT} WHERE s.name LIKE ? ESCAPE '\\' OR s.qualified_name LIKE ? ESCAPE '\\'"
            " ORDER BY s.name LIKE ? ESCAPE '\\' DESC, length(s.name), s.name, f.path, s.start_line LIMIT ?"
        )
        return [SymbolRow(*row) for row in self._db.execute(query, (pattern, pattern, pattern, limit))]

    def rows_named(self, keys: Sequence[str]) -> list[SymbolRow]:
        """Return the symbols with these keys; no index helps, so all of them are looked through."""
        return [SymbolRow(*row) for row in self._among(keys, f"{_ROW_SELECT} WHERE s.key IN ({{}})")]

    def places(self) -> list[tuple[int, str, str]]:
        """Return id, repository and path of every file."""
        return self._db.execute("SELECT id, repo, path FROM files").fetchall()

    def names(self, glob: str) -> list[tuple[int, str, str]]:
        """Return row, name and qualified name of symbols: all that a glob matches, and perhaps others."""
        last = re.split(r"[.#:/]", glob)[-1]
        query = "SELECT id, name, qualified_name FROM symbols"
        # SQLite folds the case of ASCII alone.
        if not last or "*" in last or "?" in last or not last.isascii():
            return self._db.execute(query).fetchall()
        return self._db.execute(f"{query} WHERE name = ? COLLATE NOCASE", (last,)).fetchall()

    def vector_keys(self) -> tuple[list[int], list[bytes]]:
        """Return every symbol, by row, and the name of its vector."""
        found = self._db.execute("SELECT id, vector_key FROM symbols ORDER BY id").fetchall()
        return [row for row, _ in found], [key for _, key in found]

    def text_names(self) -> list[tuple[int, int, str, bytes]]:
        """Return row, file, hash of the text and name of the vector of every symbol, by row."""
        return self._db.execute(
            "SELECT id, file_id, content_hash, vector_key FROM symbols ORDER BY id"
        ).fetchall()

    def own_texts(self, rows: Sequence[int]) -> list[tuple[int, int, tuple[Span, ...], str]]:
        """Return row, file, where the own text stands, and documentation, of some symbols."""
        query = "SELECT id, file_id, spans, doc FROM symbols WHERE id IN ({})"
        return [
            (row, file_id, json.loads(spans), doc) for row, file_id, spans, doc in self._among(rows, query)
        ]

    def by_place(self, rows: Sequence[int]) -> list[int]:
        """Return rows in the order of their places: repository, path, line."""
        query = (
            "SELECT f.repo, f.path, s.start_line, s.id FROM symbols s JOIN files f ON f.id = s.file_id"
            " WHERE s.id IN ({})"
        )
        return [place[3] for place in sorted(self._among(rows, query))]

    def bare_spans(self, rows: Sequence[int]) -> dict[int, tuple[Span, ...]]:
        """Return where the own text of some symbols stands, documentation left out."""
        query = "SELECT id, spans, doc_spans FROM symbols WHERE id IN ({})"
        return {
            row: subtract_spans(json.loads(spans), json.loads(doc_spans) if doc_spans else ())
            for row, spans, doc_spans in self._among(rows, query)
        }

    def details(self, rows: Sequence[int]) -> dict[int, SymbolDetails]:
        """Return what ranking does not need of some symbols, by row."""
        query = "SELECT id, doc, spans, content_hash FROM symbols WHERE id IN ({})"
        found = self._among(rows, query)
        return {row: SymbolDetails(doc, json.loads(spans), digest) for row, doc, spans, digest in found}

    def texts(self, file_ids: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Give the texts of many files, in the order of their ids."""
        query = "SELECT file_id, text FROM texts WHERE file_id IN ({})"
        for file_id, packed in self._among(sorted(file_ids), query):
            yield file_id, unpack(packed)

    def references(self, file_id: int) -> list[Reference]:
        """Return what one file names that is defined elsewhere, as `index.records` packed it."""
        row = self._db.execute("SELECT data FROM refs WHERE file_id=?", (file_id,)).fetchone()
        return unpack_references(row[0]) if row else []

    def check(self) -> list[str]:
        """Return what SQLite's own check finds wrong, nothing if all is well."""
        rows = [row[0] for row in self._db.execute("PRAGMA quick_check")]
        return [] if rows == ["ok"] else rows


def _symbol_values(row: int, file_id: int, s: SymbolRecord) -> tuple[object, ...]:
    """Return a symbol as the table has it."""
    doc_spans = json.dumps(s.doc_spans) if s.doc_spans else ""
    return (
        *(row, s.key, file_id, s.kind, s.name, s.qualified_name, s.start_line, s.end_line, s.signature),
        *(s.doc, json.dumps(s.spans), s.content_hash, doc_spans, s.vector_key),
        *(s.part, s.scope_key, s.name_key, int(s.overrides)),
    )


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells one file from another; its number is not given away again while it is open."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def _connect(uri: str) -> sqlite3.Connection:
    db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA trusted_schema=OFF")  # a copied index may be anybody's: no functions in its schema
    # A reader touches pages all over the file: mapped, each costs a memory access and no system call.
    db.execute(f"PRAGMA mmap_size={_MAPPED_BYTES}")
    return db


def _quoted(path: Path) -> str:
    return str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
