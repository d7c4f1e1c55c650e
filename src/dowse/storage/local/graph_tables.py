"""The call graph in the catalog: facts of files, edges, references by name, and files to link."""

from __future__ import annotations

import sqlite3
import struct
from array import array
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain

from dowse.damage import BrokenBlock
from dowse.storage.compression import unpack
from dowse.storage.local.key_filter import KeyFilter
from dowse.storage.protocol import (
    FileSymbol,
    NamedReference,
    ResolvedReference,
    Target,
    UnlinkedFile,
)
from dowse.types import REASONS, DeferredFile, Edge, FileRecord, GraphPart, Reference

SCHEMA = """
CREATE TABLE facts (
    file_id INTEGER PRIMARY KEY, data BLOB NOT NULL,
    offers BLOB NOT NULL,  -- what other files can look up in it, with hashes of the results
    rows BLOB NOT NULL  -- its symbols, in the order in which references count them
);
CREATE TABLE marks (key INTEGER, file_id INTEGER, PRIMARY KEY (key, file_id)) WITHOUT ROWID;
CREATE INDEX marks_by_file ON marks (file_id);
CREATE TABLE lookups (file_id INTEGER PRIMARY KEY, keys BLOB NOT NULL);  -- what linking looked up
CREATE TABLE edges (
    source INTEGER, line INTEGER, col INTEGER, kind INTEGER, target INTEGER,
    candidates INTEGER NOT NULL,  -- 0: a function used as a value
    PRIMARY KEY (source, line, col, kind, target)
) WITHOUT ROWID;
CREATE INDEX edges_by_target ON edges (target);
CREATE TABLE named (  -- unresolved references, known by name alone; candidates are looked up at query time
    source INTEGER, line INTEGER, col INTEGER, kind INTEGER, name_key INTEGER, reason INTEGER NOT NULL,
    PRIMARY KEY (source, line, col, kind, name_key)
) WITHOUT ROWID;
CREATE INDEX named_by_name ON named (name_key);
CREATE TABLE graph_todo (file_id INTEGER PRIMARY KEY);  -- files put since the last linking
CREATE TABLE graph_changed (key INTEGER PRIMARY KEY);  -- lookups that have another result since then
CREATE TABLE graph_names (name_key INTEGER PRIMARY KEY, more INTEGER NOT NULL);  -- symbols added or removed
"""

KINDS = ("calls", "extends", "implements", "uses", "imports")
_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}
_REASON_NUMBERS = {reason: number for number, reason in enumerate(REASONS)}

# Create named tuples at the speed of plain ones.
_TARGET = partial(tuple.__new__, Target)
_FILE_SYMBOL = partial(tuple.__new__, FileSymbol)
_REFERENCE = partial(tuple.__new__, Reference)

# Bound values of one statement.
_BATCH = 500


class GraphTables:
    """The tables of the call graph, through a connection to the catalog."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._known_keys: KeyFilter | None = None

    # Adding and removing files

    def put_file(self, file_id: int, record: FileRecord, rows: Sequence[int]) -> None:
        """Store the facts of a file, and mark it to be linked."""
        if not record.offers and not record.is_deferred:
            return
        self._db.execute(
            "INSERT INTO facts VALUES (?,?,?,?)",
            (file_id, record.facts, array("q", record.offers).tobytes(), array("q", rows).tobytes()),
        )
        names = [symbol.name_key for symbol in record.symbols] + [name.name_key for name in record.names]
        self._put_names(file_id, record.marks, names, has_facts=bool(record.facts))

    def complete_file(self, file_id: int, part: GraphPart) -> None:
        """Store the graph part of a deferred file, and mark it to be linked."""
        rows = self._rows(file_id)
        self.note_change((), part.offers)
        if part.references:
            self._db.execute("INSERT INTO refs VALUES (?, ?)", (file_id, part.references))
        self._db.execute(
            "UPDATE facts SET data=?, offers=? WHERE file_id=?",
            (part.facts, array("q", part.offers).tobytes(), file_id),
        )
        self._db.executemany(
            "UPDATE symbols SET scope_key=?, name_key=?, overrides=? WHERE id=?",
            [
                (scope_key, name_key, int(overrides), row)
                for (scope_key, name_key, overrides), row in zip(part.keys, rows, strict=False)
                if scope_key or name_key
            ],
        )
        if part.name_keys:
            query = "SELECT key, id FROM symbols WHERE file_id=? AND id<0"
            named = dict(self._db.execute(query, (file_id,)))
            self._db.executemany(
                "UPDATE symbols SET scope_key=?, name_key=? WHERE id=?",
                [(scope, name, named[key]) for key, scope, name in part.name_keys if key in named],
            )
        names = [key for _, key, _ in part.keys] + [key for _, _, key in part.name_keys]
        self._put_names(file_id, part.marks, names, has_facts=bool(part.facts))

    def _put_names(
        self, file_id: int, marks: Iterable[int], names: Iterable[int], *, has_facts: bool
    ) -> None:
        self._db.executemany("INSERT INTO marks VALUES (?,?)", [(mark, file_id) for mark in set(marks)])
        if has_facts:
            self._db.execute("INSERT OR IGNORE INTO graph_todo VALUES (?)", (file_id,))
        self._note_names([key for key in names if key], 1)

    def deferred_files(self, limit: int = -1) -> list[DeferredFile]:
        """Return files that wait for `complete_file` (any other offers itself at least); -1 for all."""
        rows = self._db.execute(
            "SELECT f.id, f.repo, f.path, f.language, f.size, f.problem FROM facts g"
            " JOIN files f ON f.id = g.file_id WHERE g.offers=x'' ORDER BY f.id LIMIT ?",
            (limit,),
        )
        return [DeferredFile(*row) for row in rows]

    def symbol_keys(self, file_id: int) -> list[str]:
        """Return the keys of the symbols of a file, in the order in which references count them."""
        keys = dict(self._db.execute("SELECT id, key FROM symbols WHERE file_id=? AND id>0", (file_id,)))
        return [keys[row] for row in self._rows(file_id) if row in keys]

    def _rows(self, file_id: int) -> array[int]:
        row = self._db.execute("SELECT rows FROM facts WHERE file_id=?", (file_id,)).fetchone()
        return unpack_integers(row[0] if row else b"")

    def note_change(self, before: Iterable[int], after: Iterable[int]) -> None:
        """Record which lookups have another result once these offers replace those."""
        # The upper half of an offer is the lookup key: `fingerprint` in graph/keys.py.
        changed = {(offer >> 31,) for offer in set(before) ^ set(after)}
        if changed and self._is_linked():
            self._db.executemany("INSERT OR IGNORE INTO graph_changed VALUES (?)", changed)

    def _note_names(self, keys: Sequence[int], more: int) -> None:
        if keys and self._is_linked():
            self._db.executemany(
                "INSERT INTO graph_names VALUES (?, ?)"
                " ON CONFLICT (name_key) DO UPDATE SET more = more + excluded.more",
                [(key, more) for key in keys],
            )

    def _is_linked(self) -> bool:
        """Whether any file was linked: until then no change concerns another file."""
        return self._db.execute("SELECT 1 FROM lookups LIMIT 1").fetchone() is not None

    def offers(self, file_id: int) -> array[int]:
        """Return what other files can look up in a file."""
        row = self._db.execute("SELECT offers FROM facts WHERE file_id=?", (file_id,)).fetchone()
        return unpack_integers(row[0] if row else b"")

    def delete_file(self, file_id: int, gone: Sequence[int]) -> None:
        """Remove a file and its edges, and the edges to its symbols that are gone."""
        self._delete_edges_from(file_id)
        names = self._db.execute("SELECT name_key FROM symbols WHERE file_id=? AND name_key<>0", (file_id,))
        self._note_names([key for (key,) in names], -1)
        self._db.executemany("DELETE FROM edges WHERE target=?", [(row,) for row in gone])
        for table in ("facts", "marks", "lookups", "graph_todo"):
            self._db.execute(f"DELETE FROM {table} WHERE file_id=?", (file_id,))

    def _delete_edges_from(self, file_id: int) -> None:
        own = "(SELECT id FROM symbols WHERE file_id=?)"
        for table in ("edges", "named"):
            self._db.execute(f"DELETE FROM {table} WHERE source IN {own}", (file_id,))

    # Linking

    def files_to_link(self) -> list[int]:
        """Return the files to link: those put since the last linking, and those whose lookups changed."""
        todo = {file_id for (file_id,) in self._db.execute("SELECT file_id FROM graph_todo")}
        changed = {key for (key,) in self._db.execute("SELECT key FROM graph_changed")}
        for key, more in self._db.execute("SELECT name_key, more FROM graph_names").fetchall():
            (now,) = self._db.execute("SELECT count(*) FROM symbols WHERE name_key=?", (key,)).fetchone()
            if (now > 0) != (now - more > 0):
                changed.add(key & 0xFFFFFFFF)
        if changed:
            for file_id, keys in self._db.execute("SELECT file_id, keys FROM lookups"):
                if file_id not in todo and not changed.isdisjoint(unpack_integers(keys, "I")):
                    todo.add(file_id)
        return sorted(todo)

    def file_to_link(self, file_id: int) -> UnlinkedFile | None:
        """Return all that linking a file starts from; None if there is nothing."""
        row = self._db.execute(
            "SELECT f.path, f.language, g.data, g.rows, coalesce(r.data, x'') FROM files f"
            " JOIN facts g ON g.file_id = f.id LEFT JOIN refs r ON r.file_id = f.id WHERE f.id=?",
            (file_id,),
        ).fetchone()
        if row is None:
            return None
        path, language, facts, packed_rows, references = row
        by_row = {
            each[0]: _FILE_SYMBOL(each)
            for each in self._db.execute(
                "SELECT id, kind, name, qualified_name, start_line, end_line, part, signature"
                " FROM symbols WHERE file_id=? AND id>0",
                (file_id,),
            )
        }
        symbols = [by_row[each] for each in unpack_integers(packed_rows) if each in by_row]
        table = unpack(facts) if facts else b""
        return UnlinkedFile(file_id, path, language, unpack_references(references), table, symbols)

    def put_links(
        self,
        file_id: int,
        linked: Iterable[ResolvedReference],
        named: Iterable[NamedReference],
        dependencies: Iterable[int],
    ) -> None:
        """Replace the edges out of a file, and store the lookup keys that they depend on."""
        if self._db.execute("SELECT 1 FROM lookups WHERE file_id=?", (file_id,)).fetchone():
            self._delete_edges_from(file_id)
        self._db.executemany(
            "INSERT OR IGNORE INTO edges VALUES (?,?,?,?,?,?)",
            sorted(
                (source, line, column, _NUMBERS[kind], target, candidates)
                for source, line, column, kind, target, candidates in linked
            ),
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO named VALUES (?,?,?,?,?,?)",
            sorted(
                (source, line, column, _NUMBERS[kind], name_key, _REASON_NUMBERS[reason])
                for source, line, column, kind, name_key, reason in named
            ),
        )
        keys = array("I", sorted(set(dependencies))).tobytes()
        self._db.execute("INSERT OR REPLACE INTO lookups VALUES (?,?)", (file_id, keys))

    def mark_all_linked(self) -> None:
        """Record that every file is linked."""
        for table in ("graph_todo", "graph_changed", "graph_names"):
            self._db.execute(f"DELETE FROM {table}")

    # Lookups of linking

    def load_keys(self) -> None:
        """Read the keys of all symbols: half of the lookups of a full index find none, then without a query.

        For a connection that sees one generation.
        """
        ((count,),) = self._db.execute("SELECT count(*) FROM symbols")
        keys = self._db.execute("SELECT scope_key, name_key FROM symbols")
        self._known_keys = KeyFilter(chain.from_iterable(keys), 2 * count)

    def _is_unknown(self, key: int) -> bool:
        return self._known_keys is not None and self._known_keys.excludes(key)

    def symbols_in_scope(self, scope_key: int) -> list[Target]:
        """Return the symbols with a scope key, in an order that does not depend on when they were added."""
        if self._is_unknown(scope_key):
            return []
        rows = self._db.execute(
            "SELECT s.id, s.kind, iif(s.qualified_name='', s.name, s.qualified_name), s.signature,"
            " f.path, f.language"
            " FROM symbols s JOIN files f ON f.id = s.file_id WHERE s.scope_key=?"
            " ORDER BY f.path, s.start_line, s.end_line DESC",
            (scope_key,),
        )
        return [_TARGET(row) for row in rows]

    def has_symbol_named(self, name_key: int) -> bool:
        """Whether any symbol has this name."""
        if self._is_unknown(name_key):
            return False
        query = "SELECT 1 FROM symbols WHERE name_key=? LIMIT 1"
        return self._db.execute(query, (name_key,)).fetchone() is not None

    def language_of_path(self, path: str) -> str | None:
        """Return the language of the file with this path, None if there is no such file."""
        row = self._db.execute("SELECT language FROM files WHERE key=?", (path,)).fetchone()
        return str(row[0]) if row else None

    def paths_with_mark(self, key: int) -> list[str]:
        """Return the paths of the files with a mark."""
        query = "SELECT f.path FROM marks m JOIN files f ON f.id = m.file_id WHERE m.key=? ORDER BY f.path"
        return [path for (path,) in self._db.execute(query, (key,))]

    def facts_of_path(self, path: str) -> bytes:
        """Return the encoded symbol table of a file, nothing if it has none."""
        query = "SELECT g.data FROM files f JOIN facts g ON g.file_id = f.id WHERE f.key=?"
        row = self._db.execute(query, (path,)).fetchone()
        return unpack(row[0]) if row and row[0] else b""

    # Reading

    def edges(self, rows: Sequence[int], kinds: Sequence[str], incoming: bool, limit: int) -> list[Edge]:
        """Return edges out of symbols or into them, ordered by location."""
        wanted = sorted({_NUMBERS[kind] for kind in kinds if kind in _NUMBERS}) if kinds else []
        if (kinds and not wanted) or limit <= 0:
            return []
        located: list[tuple[tuple[str, str], Edge]] = []
        name_counts: dict[int, int] = {}
        unique = sorted(set(rows))
        for start in range(0, len(unique), _BATCH):
            batch = unique[start : start + _BATCH]
            for make_query in (_linked_query, _named_query):
                query = make_query(incoming, len(batch), wanted)
                for repo, path, kind, *columns, number, overrides, count, key in self._db.execute(
                    query, (*batch, *wanted)
                ):
                    if key is None:
                        confidence, reason = linked_confidence(count)
                    else:
                        count = name_counts[key] = name_counts.get(key) or self._count_named(key)
                        reason = REASONS[number]
                        confidence = named_confidence(reason, overrides, count)
                    source, target, file_id, line, column = columns
                    ends = (KINDS[kind], source, target, file_id, line, column)
                    located.append(((repo, path), Edge(*ends, confidence, count, reason)))
        located.sort(key=lambda each: (each[0], each[1].line, each[1].column, each[1].target, each[1].kind))
        return [edge for _, edge in located[:limit]]

    def _count_named(self, name_key: int) -> int:
        query = "SELECT count(*) FROM symbols WHERE name_key=?"
        return int(self._db.execute(query, (name_key,)).fetchone()[0])


def linked_confidence(candidates: int) -> tuple[str, str]:
    """Return confidence and reason of a resolved reference; a function used as a value has 0 candidates."""
    if not candidates:
        return "possible", "value"
    return "ambiguous" if candidates > 1 else "resolved", ""


def named_confidence(reason: str, overrides: bool, count: int) -> str:
    """Return how certain a reference by name is; a method that may override one of a library never is."""
    return "ambiguous" if reason or overrides or count > 1 else "unique"


def unpack_integers(packed: bytes, typecode: str = "q") -> array[int]:
    """Return the numbers in a column of packed integers."""
    numbers = array(typecode)
    numbers.frombytes(packed)
    return numbers


def unpack_references(packed: bytes) -> list[Reference]:
    """Return the references in a packed block; raises BrokenBlock if it is damaged."""
    if not packed:
        return []
    count, words, numbers = unpack_columns(packed)
    columns = (
        values[n * count : (n + 1) * count]
        for values, parts in ((words, 3), (numbers, 4))
        for n in range(parts)
    )
    return list(map(_REFERENCE, zip(*columns, strict=True)))


def unpack_columns(packed: bytes) -> tuple[int, list[str], tuple[int, ...]]:
    """Return count; kinds, names and qualifiers; lines, columns, owners and arguments of references."""
    data = unpack(packed)
    try:
        (count,) = struct.unpack_from("<i", data)
        numbers = struct.unpack_from(f"<{4 * count}i", data, 4)
        words = data[4 + 16 * count :].decode().split("\0")
    except (struct.error, UnicodeDecodeError) as error:
        raise BrokenBlock(str(error)) from error
    if count < 1 or len(words) != 3 * count:
        raise BrokenBlock("references have not three words each")
    return count, words, numbers


def placeholders(count: int) -> str:
    """Return the placeholders of so many values in a statement."""
    return ",".join("?" * count)


def _of_kinds(wanted: Sequence[int]) -> str:
    return f" AND e.kind IN ({placeholders(len(wanted))})" if wanted else ""


def _linked_query(incoming: bool, rows: int, wanted: Sequence[int]) -> str:
    """Select resolved edges."""
    end = "target" if incoming else "source"
    return (
        "SELECT f.repo, f.path, e.kind, e.source, e.target, f.id, e.line, e.col, 0, 0, e.candidates, NULL"
        " FROM edges e JOIN symbols s ON s.id = e.source JOIN files f ON f.id = s.file_id"
        f" WHERE e.{end} IN ({placeholders(rows)}){_of_kinds(wanted)}"
    )


def _named_query(incoming: bool, rows: int, wanted: Sequence[int]) -> str:
    """Select edges to the symbols that have the name now."""
    end = "t.id" if incoming else "e.source"
    tables = (
        "symbols t JOIN named e ON e.name_key = t.name_key"
        if incoming
        else "named e JOIN symbols t ON t.name_key = e.name_key"
    )
    return (
        "SELECT f.repo, f.path, e.kind, e.source, t.id, f.id, e.line, e.col,"
        " e.reason, t.overrides, 0, e.name_key"
        f" FROM {tables} JOIN symbols s ON s.id = e.source JOIN files f ON f.id = s.file_id"
        f" WHERE {end} IN ({placeholders(rows)}){_of_kinds(wanted)}"
    )
