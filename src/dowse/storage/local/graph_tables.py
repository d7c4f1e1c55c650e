"""The call graph in the catalog: facts of files, edges, references by name, and files to link."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, chain

from dowse.damage import BrokenBlock
from dowse.storage.columns import unpack_columns
from dowse.storage.compression import unpack
from dowse.storage.local.batches import BATCH, placeholders, select_among
from dowse.storage.local.key_filter import KeyFilter
from dowse.storage.local.use_tables import SCHEMA as USES_SCHEMA
from dowse.storage.local.use_tables import UseEdge, UseTables
from dowse.storage.protocol import (
    FileSymbol,
    NamedReference,
    ResolvedReference,
    Target,
    UnlinkedFile,
)
from dowse.types import REASONS, DeferredFile, Edge, FileRecord, GraphPart, Reference

SCHEMA = (
    """
CREATE TABLE facts (
    file_id INTEGER PRIMARY KEY, data BLOB NOT NULL,
    offers BLOB NOT NULL,  -- what other files can look up in it, with hashes of the results
    rows BLOB NOT NULL  -- its symbols, in the order in which references count them
);
CREATE TABLE marks (key INTEGER, file_id INTEGER, PRIMARY KEY (key, file_id)) WITHOUT ROWID;
CREATE INDEX marks_by_file ON marks (file_id);
CREATE TABLE lookups (file_id INTEGER PRIMARY KEY, keys BLOB NOT NULL);  -- what linking looked up: steps
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
    + USES_SCHEMA
)

KINDS = ("calls", "extends", "implements", "uses", "imports", "reads", "writes")
# Edges of the kinds from this one on are in the tables of uses.
_FIRST_USE = KINDS.index("uses")
_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}
_REASON_NUMBERS = {reason: number for number, reason in enumerate(REASONS)}

# Create named tuples at the speed of plain ones.
_TARGET = partial(tuple.__new__, Target)
_FILE_SYMBOL = partial(tuple.__new__, FileSymbol)
_REFERENCE = partial(tuple.__new__, Reference)

# The bits of a lookup key that are stored, and the longest step from one to the next.
_LOOKUP_MASK, _MAX_STEP = 0xFFFFFF, 0xFFFF

# An edge with the repository and path of its reference, which order edges.
_Located = tuple[tuple[str, str], Edge]


class GraphTables:
    """The tables of the call graph, through a connection to the catalog."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self.uses = UseTables(connection)
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
        self.uses.delete_targets(frozenset(gone))
        for table in ("facts", "marks", "lookups", "graph_todo"):
            self._db.execute(f"DELETE FROM {table} WHERE file_id=?", (file_id,))

    def _delete_edges_from(self, file_id: int) -> None:
        own = "(SELECT id FROM symbols WHERE file_id=?)"
        for table in ("edges", "named"):
            self._db.execute(f"DELETE FROM {table} WHERE source IN {own}", (file_id,))
        self.uses.delete(file_id)

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
            changed = {key & _LOOKUP_MASK for key in changed}
            for file_id, steps in self._db.execute("SELECT file_id, keys FROM lookups"):
                if file_id not in todo and not changed.isdisjoint(accumulate(unpack_integers(steps, "H"))):
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
        linked_rows = [
            (source, line, column, _NUMBERS[kind], target, candidates)
            for source, line, column, kind, target, candidates in linked
        ]
        named_rows = [
            (source, line, column, _NUMBERS[kind], name_key, _REASON_NUMBERS[reason])
            for source, line, column, kind, name_key, reason in named
        ]
        for table, values in (("edges", linked_rows), ("named", named_rows)):
            self._db.executemany(
                f"INSERT OR IGNORE INTO {table} VALUES (?,?,?,?,?,?)",
                sorted(each for each in values if each[3] < _FIRST_USE),
            )
        uses = [
            UseEdge(line, column, source, kind, is_named, detail, end)
            for is_named, values in enumerate((linked_rows, named_rows))
            for source, line, column, kind, end, detail in values
            if kind >= _FIRST_USE
        ]
        self.uses.put(file_id, uses)
        self._db.execute(
            "INSERT OR REPLACE INTO lookups VALUES (?,?)", (file_id, _pack_lookups(dependencies))
        )

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
        wanted = {_NUMBERS[kind] for kind in kinds if kind in _NUMBERS} if kinds else set(range(len(KINDS)))
        located: list[tuple[tuple[str, str], Edge]] = []
        if limit <= 0:
            return []
        if by_row := sorted(kind for kind in wanted if kind < _FIRST_USE):
            located += self._row_edges(sorted(set(rows)), by_row, incoming)
        if in_blocks := frozenset(kind for kind in wanted if kind >= _FIRST_USE):
            located += self._use_edges(sorted(set(rows)), in_blocks, incoming)
        located.sort(key=lambda each: (each[0], each[1].line, each[1].column, each[1].target, each[1].kind))
        return [edge for _, edge in located[:limit]]

    def _row_edges(self, rows: Sequence[int], wanted: Sequence[int], incoming: bool) -> Iterator[_Located]:
        name_counts: dict[int, int] = {}
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
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
                    yield (repo, path), Edge(*ends, confidence, count, reason)

    def _use_edges(self, rows: Sequence[int], wanted: Collection[int], incoming: bool) -> Iterator[_Located]:
        query = "SELECT id, file_id, name_key, overrides FROM symbols WHERE id IN ({})"
        described = list(select_among(self._db, rows, query))
        of_name: dict[int, list[tuple[int, int]]] = {}  # rows that have a name key, and whether they override
        for row, _, name_key, overrides in described:
            of_name.setdefault(name_key, []).append((row, overrides))
        ends = {*rows, *(key for key in of_name if key)}
        files = self.uses.users(ends) if incoming else sorted({file_id for _, file_id, _, _ in described})
        sources = None if incoming else frozenset(rows)
        query = "SELECT id, repo, path FROM files WHERE id IN ({})"
        places = {row[0]: row[1:] for row in select_among(self._db, files, query)}
        name_counts: dict[int, int] = {}
        for file_id in files:
            for line, column, source, kind, is_named, detail, key in self.uses.edges(
                file_id, ends if incoming else None
            ):
                if kind not in wanted or (sources is not None and source not in sources):
                    continue
                position = (file_id, line, column)
                if not is_named:
                    confidence, reason = linked_confidence(detail)
                    yield (
                        places[file_id],
                        Edge(KINDS[kind], source, key, *position, confidence, detail, reason),
                    )
                    continue
                if not incoming and key not in name_counts:
                    query = "SELECT id, overrides FROM symbols WHERE name_key=?"
                    of_name[key] = self._db.execute(query, (key,)).fetchall()
                count = name_counts[key] = name_counts.get(key) or self._count_named(key)
                for target, overrides in of_name.get(key, ()):
                    confidence = named_confidence(REASONS[detail], bool(overrides), count)
                    ends_at = (KINDS[kind], source, target, *position, confidence, count, REASONS[detail])
                    yield places[file_id], Edge(*ends_at)

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


def _pack_lookups(keys: Iterable[int]) -> bytes:
    """Return lookup keys, ascending, as steps of two bytes each.

    A longer step goes by keys that nobody looked up. At worst these, or a key whose upper bits were dropped,
    have a file linked again for nothing.
    """
    steps, last = array("H"), 0
    for key in sorted({key & _LOOKUP_MASK for key in keys}):
        while key - last > _MAX_STEP:
            steps.append(_MAX_STEP)
            last += _MAX_STEP
        steps.append(key - last)
        last = key
    return steps.tobytes()


def unpack_integers(packed: bytes, typecode: str = "q") -> array[int]:
    """Return the numbers in a column of packed integers."""
    numbers = array(typecode)
    numbers.frombytes(packed)
    return numbers


def unpack_references(packed: bytes) -> list[Reference]:
    """Return the references in a packed block; raises BrokenBlock if it is damaged."""
    if not packed:
        return []
    words, numbers = unpack_columns(packed)
    if len(words) != 3 or len(numbers) != 4:
        raise BrokenBlock("references have not three words and four numbers each")
    return list(map(_REFERENCE, zip(*words, *numbers, strict=True)))


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
