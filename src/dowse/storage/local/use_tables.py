"""Uses of symbols and names in the catalog: one block of edges a file, and the files that use a target.

There are more uses than calls: as rows with an index they would take 40 bytes each, in blocks they take 10.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Collection, Iterable, Iterator
from functools import partial

from dowse.lazy_classes import NamedTuple
from dowse.storage.columns import pack_columns, unpack_columns
from dowse.storage.local.batches import select_among

SCHEMA = """
CREATE TABLE uses (  -- the edges out of a file, and the rows and name keys that they connect
    file_id INTEGER PRIMARY KEY, data BLOB NOT NULL, keys BLOB NOT NULL
);
CREATE TABLE users (key INTEGER, file_id INTEGER, PRIMARY KEY (key, file_id)) WITHOUT ROWID;
"""


class UseEdge(NamedTuple):
    """A use; it ends at a symbol or name by its row, or at all that are called so by their name key."""

    line: int
    column: int
    source: int
    kind: int
    is_named: int  # 1 for a use by name
    detail: int  # the number of candidates, or the reason why only the name is known
    key: int


_USE_EDGE = partial(tuple.__new__, UseEdge)


class UseTables:
    """The tables of uses, through a connection to the catalog."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def put(self, file_id: int, edges: Iterable[UseEdge]) -> None:
        """Replace the uses in a file."""
        self.delete(file_id)
        ordered = sorted(set(edges))
        if not ordered:
            return
        lines, columns, sources, *others, ends = zip(*ordered, strict=True)
        numbers = {key: number for number, key in enumerate(dict.fromkeys((*ends, *sources)))}
        numbered = [[numbers[key] for key in keys] for keys in (sources, ends)]
        data = pack_columns((), lines, (columns, *others, *numbered))
        self._db.execute("INSERT INTO uses VALUES (?,?,?)", (file_id, data, array("q", numbers).tobytes()))
        self._db.executemany("INSERT INTO users VALUES (?,?)", [(key, file_id) for key in set(ends)])

    def delete(self, file_id: int) -> None:
        """Remove the uses in a file."""
        pairs = [(key, file_id) for key in self._keys(file_id)]
        self._db.executemany("DELETE FROM users WHERE key=? AND file_id=?", pairs)
        self._db.execute("DELETE FROM uses WHERE file_id=?", (file_id,))

    def delete_targets(self, rows: Collection[int]) -> None:
        """Remove the uses of symbols and names that are gone."""
        for file_id in self.users(rows):
            edges = [edge for edge in self.edges(file_id) if edge.is_named or edge.key not in rows]
            self.put(file_id, edges)

    def users(self, keys: Collection[int]) -> list[int]:
        """Return the files that use what has one of these rows or name keys."""
        query = "SELECT DISTINCT file_id FROM users WHERE key IN ({})"
        return sorted({file_id for (file_id,) in select_among(self._db, sorted(keys), query)})

    def edges(self, file_id: int, ends: Collection[int] | None = None) -> Iterator[UseEdge]:
        """Yield the uses in a file by their place; those of some rows or name keys, or all."""
        row = self._db.execute("SELECT data FROM uses WHERE file_id=?", (file_id,)).fetchone()
        if row is None:
            return
        keys = self._keys(file_id)
        wanted = {number for number, key in enumerate(keys) if ends is None or key in ends}
        for line, column, *others, source, end in zip(*unpack_columns(row[0])[1], strict=True):
            if end in wanted:
                yield _USE_EDGE((line, column, keys[source], *others, keys[end]))

    def _keys(self, file_id: int) -> array[int]:
        row = self._db.execute("SELECT keys FROM uses WHERE file_id=?", (file_id,)).fetchone()
        return array("q", row[0] if row else b"")
