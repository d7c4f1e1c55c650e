"""SQL queries over one snapshot of the catalog: files, symbols and texts."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from dowse.parsing.spans import join_spans
from dowse.security.terminal import escape_surrogates
from dowse.storage.compression import BLOCK_BYTES, unpack
from dowse.storage.local.batches import BATCH, placeholders, select_among
from dowse.storage.local.graph_tables import unpack_references
from dowse.storage.symbols import SymbolDetails, file_row
from dowse.types import FileFingerprint, Reference, StoredFile, SymbolRanges, SymbolRow

_ROW_SELECT = (
    "SELECT s.id, s.key, f.repo, f.path, f.language, f.role, s.kind, s.name,"
    " iif(s.qualified_name='', s.name, s.qualified_name), s.start_line, s.end_line, s.signature, s.file_id"
    " FROM symbols s JOIN files f ON f.id = s.file_id"
)


class CatalogQueries:
    """Reads the catalog through a connection, which may be inside a snapshot."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def meta(self) -> dict[str, str]:
        """Return the description that the last writer left."""
        return dict(self._db.execute("SELECT key, value FROM meta"))

    def _is_corpus(self) -> bool:
        return self.meta().get("corpus") == "1"

    def fingerprints(self) -> dict[str, FileFingerprint]:
        """Return size, time and content hash of every file, by key."""
        rows = self._db.execute("SELECT key, size, mtime_ns, content_hash FROM files")
        return {key: FileFingerprint(size, mtime, digest) for key, size, mtime, digest in rows}

    def skipped(self) -> list[tuple[str, str]]:
        """Return the skipped paths, each with the reason."""
        return self._db.execute("SELECT path, reason FROM skipped ORDER BY path").fetchall()

    def files(self) -> list[StoredFile]:
        """Return every file of the index."""
        rows = self._db.execute(
            "SELECT f.id, f.repo, f.path, f.language, f.role, f.size, f.mtime_ns, f.encoding, f.lines,"
            " f.problem, (SELECT count(*) FROM symbols s WHERE s.file_id = f.id AND s.id>0)"
            " FROM files f ORDER BY f.path"
        )
        return [StoredFile(*row) for row in rows]

    def source_files(self, paths: Collection[str]) -> list[StoredFile]:
        """Return the files with these paths."""
        return [file for file in self.files() if file.path in paths]

    def counts(self) -> dict[str, int]:
        """Return the number of files, symbols, source bytes and skipped paths."""
        files, size = self._db.execute("SELECT count(*), coalesce(sum(size), 0) FROM files").fetchone()
        (symbols,) = self._db.execute("SELECT count(*) FROM symbols WHERE id>0").fetchone()
        (skipped,) = self._db.execute("SELECT count(*) FROM skipped").fetchone()
        return {"files": files, "symbols": symbols, "bytes": size, "skipped": skipped}

    def languages(self) -> dict[str, int]:
        """Return the number of files per language, most first."""
        return dict(
            self._db.execute("SELECT language, count(*) FROM files GROUP BY 1 ORDER BY 2 DESC, 1").fetchall()
        )

    def rows(self, ids: Sequence[int]) -> list[SymbolRow]:
        """Return the symbols and names with these ids, in the given order; unknown ids are left out."""
        by_id = {row[0]: SymbolRow(*row) for row in self._among(ids, f"{_ROW_SELECT} WHERE s.id IN ({{}})")}
        return [by_id[i] for i in ids if i in by_id]

    def rows_of_files(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        """Return all symbols of some files, in the order of their lines."""
        return self._rows_of(file_ids, "s.id>0")

    def names_of_files(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        """Return all names of some files, in the order of their lines."""
        return self._rows_of(file_ids, "s.id<0")

    def _rows_of(self, file_ids: Sequence[int], condition: str) -> list[SymbolRow]:
        order = "ORDER BY s.file_id, s.start_line, s.end_line DESC"
        query = f"{_ROW_SELECT} WHERE s.file_id IN ({{}}) AND {condition} {order}"
        return [SymbolRow(*row) for row in self._among(file_ids, query)]

    def symbol_ranges(self, file_ids: Sequence[int]) -> Iterator[tuple[int, SymbolRanges]]:
        """Yield, for each file, the line ranges of its symbols: by first line, outer before inner."""
        ranges: dict[int, SymbolRanges] = {file_id: SymbolRanges([], [], []) for file_id in file_ids}
        query = (
            "SELECT file_id, id, start_line, end_line FROM symbols WHERE file_id IN ({}) AND id>0"
            " ORDER BY file_id, start_line, end_line DESC"
        )
        for file_id, row, first, last in self._among(file_ids, query):
            extents = ranges[file_id]
            extents.rows.append(row)
            extents.starts.append(first)
            extents.ends.append(last)
        yield from ranges.items()

    def file_rows(self, file_ids: Sequence[int]) -> list[SymbolRow]:
        """Return files as if each were one symbol of kind "file" around all its lines."""
        query = "SELECT id, key, repo, path, language, role, lines FROM files WHERE id IN ({})"
        return [file_row(*columns) for columns in self._among(file_ids, query)]

    def _among(self, ids: Sequence[int] | Sequence[str], query: str) -> Iterator[Any]:
        """Run a query whose `{}` stands for the ids, in batches."""
        return select_among(self._db, ids, query)

    def lookup(
        self, pattern: str, limit: int, *, is_unqualified: bool = False, with_names: bool = False
    ) -> list[SymbolRow]:
        """Return symbols whose name or qualified name matches a pattern (`*`, `?`), shortest names first."""
        escaped = escape_surrogates(pattern).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        like = escaped.replace("*", "%").replace("?", "_")
        tier = "" if with_names else " AND s.id>0"
        order = "length(s.name), s.name, s.id<0, f.path, s.start_line, s.id LIMIT ?"
        if is_unqualified:  # reads the index of names, and the rows of matches alone
            first = pattern[:1].lower() if pattern[:1].isascii() and pattern[:1].isalnum() else ""
            between = (first, chr(ord(first) + 1)) if first else ("", chr(0x10FFFF))
            query = (
                f"{_ROW_SELECT} WHERE s.id IN (SELECT id FROM symbols WHERE name LIKE ? ESCAPE '\\'"
                f" AND name COLLATE NOCASE BETWEEN ? AND ?){tier} ORDER BY {order}"
            )
            return [SymbolRow(*row) for row in self._db.execute(query, (like, *between, limit))]
        query = (
            f"{_ROW_SELECT} WHERE (s.name LIKE ? ESCAPE '\\' OR s.qualified_name LIKE ? ESCAPE '\\'){tier}"
            f" ORDER BY s.name LIKE ? ESCAPE '\\' DESC, {order}"
        )
        return [SymbolRow(*row) for row in self._db.execute(query, (like, like, like, limit))]

    def rows_named(self, names: Sequence[str], limit: int, *, with_names: bool = False) -> list[SymbolRow]:
        """Return the symbols called so, letter by letter; by name, path and line."""
        wanted = sorted({escape_surrogates(name) for name in names})
        # The index folds the case of ASCII letters; the second condition does not.
        query = (
            f"{_ROW_SELECT} WHERE s.name COLLATE NOCASE IN ({{0}}) AND s.name IN ({{0}})"
            f"{'' if with_names else ' AND s.id>0'}"
            " ORDER BY s.name, s.id<0, f.path, s.start_line, s.id LIMIT ?"
        )
        rows: list[SymbolRow] = []
        for start in range(0, len(wanted), BATCH):
            batch = wanted[start : start + BATCH]
            values = (*batch, *batch, limit - len(rows))
            rows += map(SymbolRow._make, self._db.execute(query.format(placeholders(len(batch))), values))
        return rows

    def rows_by_key(self, keys: Sequence[str]) -> list[SymbolRow]:
        """Return the symbols and names with these keys; scans the table, which has no index for them."""
        return [SymbolRow(*row) for row in self._among(keys, f"{_ROW_SELECT} WHERE s.key IN ({{}})")]

    def paths(self) -> list[tuple[int, str, str]]:
        """Return id, repository and path of every file."""
        return self._db.execute("SELECT id, repo, path FROM files").fetchall()

    def names_like(self, glob: str) -> list[tuple[int, str, str]]:
        """Return row, name and qualified name of all symbols that a glob matches, and perhaps of others."""
        last = re.split(r"[.#:/]", glob)[-1]
        query = "SELECT id, name, qualified_name FROM symbols WHERE id>0"
        # SQLite folds the case of ASCII alone.
        if not last or "*" in last or "?" in last or not last.isascii():
            return self._db.execute(query).fetchall()
        return self._db.execute(f"{query} AND name = ? COLLATE NOCASE", (last,)).fetchall()

    def vector_keys(self) -> tuple[list[int], list[bytes]]:
        """Return the rows of all symbols, ascending, and the keys of their vectors."""
        pairs = self._db.execute("SELECT id, vector_key FROM symbols WHERE id>0 ORDER BY id").fetchall()
        return [row for row, _ in pairs], [key for _, key in pairs]

    def vector_keys_of(self, rows: Sequence[int]) -> dict[int, bytes]:
        """Return the keys of the vectors of some symbols, by row."""
        return dict(self._among(rows, "SELECT id, vector_key FROM symbols WHERE id IN ({})"))

    def text_keys(self) -> list[tuple[int, int, bytes]]:
        """Return row, file id and a 16-byte key of the own text of every symbol, by row.

        Documentation beside the code of a corpus is not part of the content hash, but of what is encoded.
        """
        symbols = self._db.execute(
            "SELECT id, file_id, content_hash, vector_key FROM symbols WHERE id>0 ORDER BY id"
        )
        is_corpus = self._is_corpus()
        return [
            (row, file_id, (int(digest or "0", 16) ^ int.from_bytes(key if is_corpus else b"")).to_bytes(16))
            for row, file_id, digest, key in symbols
        ]

    def symbol_texts(self, rows: Sequence[int]) -> Iterator[tuple[int, str, str]]:
        """Yield row, own text and, in a corpus, documentation of some symbols."""
        symbols = list(self._among(rows, "SELECT id, file_id, spans, doc FROM symbols WHERE id IN ({})"))
        texts = dict(self.texts(sorted({file_id for _, file_id, _, _ in symbols})))
        is_corpus = self._is_corpus()
        for row, file_id, spans, doc in symbols:
            text = join_spans(texts[file_id], json.loads(spans)).decode("utf-8", "replace")
            yield row, text, doc if is_corpus else ""

    def details(self, rows: Sequence[int]) -> dict[int, SymbolDetails]:
        """Return the columns of symbols that their rows leave out, by row."""
        query = "SELECT id, doc, spans, doc_spans, content_hash FROM symbols WHERE id IN ({})"
        return {
            row: SymbolDetails(doc, json.loads(spans), json.loads(doc_spans) if doc_spans else (), digest)
            for row, doc, spans, doc_spans, digest in self._among(rows, query)
        }

    def texts(self, file_ids: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Yield the texts of files, in the order of their ids."""
        query = f"SELECT file_id, iif(length(text) > {BLOCK_BYTES}, NULL, text) FROM texts"
        for file_id, packed in self._among(sorted(file_ids), query + " WHERE file_id IN ({})"):
            yield file_id, unpack(self._long_text(file_id) if packed is None else packed)

    def _long_text(self, file_id: int) -> bytes:
        """Read a packed text in pieces: other threads have to wait while SQLite copies one."""
        with self._db.blobopen("texts", "text", file_id, readonly=True) as blob:
            return b"".join(iter(lambda: blob.read(BLOCK_BYTES), b""))

    def references(self, file_id: int) -> list[Reference]:
        """Return the references of one file."""
        row = self._db.execute("SELECT data FROM refs WHERE file_id=?", (file_id,)).fetchone()
        return unpack_references(row[0]) if row else []

    def integrity_check(self) -> list[str]:
        """Return what SQLite's own check finds wrong, nothing if all is well."""
        rows = [str(row[0]) for row in self._db.execute("PRAGMA integrity_check")]
        return [] if rows == ["ok"] else rows
