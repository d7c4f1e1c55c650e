"""The tree in the catalog: root, repositories, folders, files, each with its point in the Poincaré ball.

A node's children are ordered by name and its symbols follow them, so the embedding depends on nothing but the
tree. Points of symbols are not stored: they follow from those of their file and of its folder. An update
moves the children of nodes that got or lost some, and what hangs below those that moved; all else stays.
Below `DEEPEST` levels nodes have the point of their ancestor there.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any

from dowse.research.hyperbolic.chains import DEEPEST, common_place, file_chain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.research.hyperbolic.scale import Scale

SCHEMA = """
CREATE TABLE tree (
    id INTEGER PRIMARY KEY,
    parent INTEGER NOT NULL,  -- 0 for the root's
    name TEXT NOT NULL,  -- of the repository, folder or file
    depth INTEGER NOT NULL,
    slot INTEGER NOT NULL,  -- which child of its parent it is, by name
    children INTEGER NOT NULL, leaves INTEGER NOT NULL,  -- nodes below it, and symbols
    point BLOB NOT NULL,
    UNIQUE (parent, name)
);
CREATE INDEX files_by_node ON files (node);
"""

# What waits for `embed`: it is done before the transaction ends, so this lives in memory.
_WAITING = (
    "CREATE TEMP TABLE IF NOT EXISTS touched (id INTEGER PRIMARY KEY)",  # files came, changed or went
    "CREATE TEMP TABLE IF NOT EXISTS turned (id INTEGER PRIMARY KEY)",  # children are to be placed anew
)
_ROOT = 1
# Keys in the catalog's meta table: the scale of all points, and the shape of the tree it was chosen for.
_SCALE, _SHAPE = "tree_scale", "tree_shape"
# Bound values of one statement, and nodes whose children are placed at once.
_BATCH = 500


class TreeTables:
    """Reads and writes the tree through the catalog's connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._known: dict[tuple[int, str], int] = {}  # nodes by parent and name

    def node_of(self, repo: str, path: str) -> int:
        """Return the node of a file that is about to come; what is missing on the way there is made."""
        self._prepare()
        node = _ROOT
        for depth, name in enumerate(file_chain(repo, path), 1):
            node = self._known.get((node, name)) or self._child(node, name, depth)
        self.touch(node)
        return node

    def touch(self, node: int) -> None:
        """Note that files of a node came, changed or went."""
        self._prepare()
        self._db.execute("INSERT OR IGNORE INTO touched VALUES (?)", (node,))

    def embed(self, dimension: int) -> int:
        """Bring the tree up to date with the files and give nodes their points; return how many moved."""
        self._prepare()
        self._remove_empty()
        self._number_leaves()
        self._number_children()
        moved = self._embed_what_turned(dimension)
        self._db.execute("DELETE FROM touched")
        self._db.execute("DELETE FROM turned")
        return moved

    def _embed_what_turned(self, dimension: int) -> int:
        widest, deepest = self._db.execute(
            "SELECT max(children + leaves), min(max(depth), ?) FROM tree", (DEEPEST,)
        ).fetchone()
        shape = json.dumps([widest, deepest, dimension])
        # Most updates change files and no folder: they should not wait for NumPy.
        if shape == self._noted(_SHAPE) and not self._db.execute("SELECT 1 FROM turned").fetchone():
            return 0
        from dowse.research.hyperbolic.scale import Scale

        scale = Scale.choose(widest, deepest + 1, dimension)
        if scale != self.scale():
            self._set_scale(scale)
            self._db.execute("INSERT OR IGNORE INTO turned SELECT id FROM tree WHERE children > 0")
        self._note(_SHAPE, shape)
        return self._place(scale)

    def scale(self) -> Scale | None:
        """Return the scale of the points that are stored, None before there are any."""
        from dowse.research.hyperbolic.scale import Scale

        found = self._noted(_SCALE)
        return Scale(**json.loads(found)) if found else None

    def _noted(self, key: str) -> str:
        found = self._db.execute("SELECT value FROM meta WHERE key=?", (key,)).fetchone()
        return str(found[0]) if found else ""

    def _note(self, key: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def points(self, rows: Sequence[int]) -> NDArray[np.float64]:
        """Return the points of symbols, seen from the deepest node that holds them all."""
        from dowse.research.hyperbolic.embed import as_floats, place_children, seen_from

        scale = self.scale()
        found = {row: rest for row, *rest in self._leaves(rows)}
        if scale is None or not found:
            raise ValueError("there is no tree, or no symbol in it")
        nodes, repos, paths, slots, degrees, own, above = zip(*(found[row] for row in rows), strict=True)
        placed = place_children(
            _unpacked(own, scale), _unpacked(above, scale), _ints(slots), _ints(degrees), scale
        )
        shared = common_place([file_chain(*each) for each in zip(repos, paths, strict=True)])
        if shared:  # else it is the root, which is the origin
            centre = self._point(self._above(nodes[0], len(shared)))
            placed = seen_from(placed, _unpacked([centre], scale)[0])
        return as_floats(placed)

    def _prepare(self) -> None:
        if not self._known:
            for statement in _WAITING:
                self._db.execute(statement)
            self._db.execute("INSERT OR IGNORE INTO tree VALUES (?, 0, '', 0, 0, 0, 0, x'')", (_ROOT,))
            self._known[0, ""] = _ROOT

    def _child(self, parent: int, name: str, depth: int) -> int:
        key = (parent, name)
        found = self._db.execute("SELECT id FROM tree WHERE parent=? AND name=?", key).fetchone()
        if found is None:
            found = self._db.execute(
                "INSERT INTO tree (parent, name, depth, slot, children, leaves, point)"
                " VALUES (?, ?, ?, -1, 0, 0, x'') RETURNING id",
                (*key, depth),
            ).fetchone()
            self._db.execute("INSERT OR IGNORE INTO turned VALUES (?)", (parent,))
        self._known[key] = int(found[0])
        return int(found[0])

    def _remove_empty(self) -> None:
        """Remove nodes that hold nothing any more, from the files upwards."""
        while gone := self._db.execute(
            "DELETE FROM tree WHERE id IN (SELECT id FROM touched) AND id <> ?"
            " AND NOT EXISTS (SELECT 1 FROM files WHERE node = tree.id)"
            " AND NOT EXISTS (SELECT 1 FROM tree below WHERE below.parent = tree.id) RETURNING parent, name",
            (_ROOT,),
        ).fetchall():
            for key in gone:
                self._known.pop(key, None)
            for table in ("touched", "turned"):
                self._db.executemany(f"INSERT OR IGNORE INTO {table} VALUES (?)", [key[:1] for key in gone])

    def _number_leaves(self) -> None:
        """Number the symbols of each node that was touched by key of their file and line."""
        self._db.execute(
            "UPDATE symbols SET leaf = numbered.place FROM (SELECT s.id, row_number() OVER ("
            "PARTITION BY f.node ORDER BY f.key, s.start_line, s.end_line DESC, s.key) - 1 AS place"
            " FROM touched t JOIN files f ON f.node = t.id JOIN symbols s ON s.file_id = f.id) AS numbered"
            " WHERE symbols.id = numbered.id AND symbols.leaf <> numbered.place"
        )
        counted = self._db.execute(
            "SELECT count(s.id), t.id FROM touched t LEFT JOIN files f ON f.node = t.id"
            " LEFT JOIN symbols s ON s.file_id = f.id GROUP BY t.id"
        ).fetchall()
        self._db.executemany("UPDATE tree SET leaves = ? WHERE id = ?", counted)

    def _number_children(self) -> None:
        """Number the children of each node that got or lost some, by name; its symbols come after them."""
        self._db.execute(
            "INSERT OR IGNORE INTO turned SELECT id FROM tree WHERE id IN (SELECT id FROM touched)"
            " AND EXISTS (SELECT 1 FROM tree c WHERE c.parent = tree.id)"
        )
        self._db.execute(
            "UPDATE tree SET slot = numbered.place FROM (SELECT c.id, row_number() OVER ("
            "PARTITION BY c.parent ORDER BY c.name) - 1 AS place"
            " FROM turned t JOIN tree c ON c.parent = t.id) AS numbered"
            " WHERE tree.id = numbered.id AND tree.slot <> numbered.place"
        )
        self._db.execute(
            "UPDATE tree SET children = (SELECT count(*) FROM tree c WHERE c.parent = tree.id)"
            " WHERE id IN (SELECT id FROM turned)"
        )

    def _set_scale(self, scale: Scale) -> None:
        """Begin anew: nothing has a place but the root, which is the origin."""
        self._note(_SCALE, json.dumps(asdict(scale)))
        origin = _packed(_unpacked([b""], scale))[0]
        self._db.execute("UPDATE tree SET point = CASE id WHEN ? THEN ? ELSE x'' END", (_ROOT, origin))

    def _place(self, scale: Scale) -> int:
        """Place the children of nodes that turned, level by level: a node that moves turns its children."""
        moved = 0
        (deepest,) = self._db.execute("SELECT max(depth) FROM tree").fetchone()
        for depth in range(min(deepest, DEEPEST)):
            turned = self._db.execute(
                "SELECT id FROM tree WHERE depth = ? AND id IN (SELECT id FROM turned)", (depth,)
            )
            parents = iter([node for (node,) in turned])
            while batch := list(islice(parents, _BATCH)):
                moved += self._place_below(batch, scale)
        return moved + self._share_below() if deepest > DEEPEST else moved

    def _share_below(self) -> int:
        """Give nodes below the deepest level that is embedded the point of their ancestor there."""
        return self._db.execute(
            "WITH RECURSIVE below (id, point) AS (SELECT id, point FROM tree WHERE depth = ? AND children > 0"
            " UNION ALL SELECT c.id, b.point FROM below b JOIN tree c ON c.parent = b.id)"
            " UPDATE tree SET point = below.point FROM below"
            " WHERE tree.id = below.id AND tree.point <> below.point",
            (DEEPEST,),
        ).rowcount

    def _place_below(self, parents: Sequence[int], scale: Scale) -> int:
        from dowse.research.hyperbolic.embed import place_children

        marks = ",".join("?" * len(parents))
        found = self._db.execute(
            "SELECT c.id, c.children, c.point, c.slot, p.children + p.leaves, p.point,"
            " coalesce(g.point, p.point) FROM tree c JOIN tree p ON p.id = c.parent"
            f" LEFT JOIN tree g ON g.id = p.parent WHERE c.parent IN ({marks})",
            parents,
        ).fetchall()
        if not found:
            return 0
        nodes, below, before, slots, degrees, own, above = zip(*found, strict=True)
        placed = place_children(
            _unpacked(own, scale), _unpacked(above, scale), _ints(slots), _ints(degrees), scale
        )
        points = _packed(placed)
        moved = [n for n, point in enumerate(points) if point != before[n]]
        self._db.executemany("UPDATE tree SET point = ? WHERE id = ?", [(points[n], nodes[n]) for n in moved])
        self._db.executemany(
            "INSERT OR IGNORE INTO turned VALUES (?)", [(nodes[n],) for n in moved if below[n]]
        )
        return len(moved)

    def _leaves(self, rows: Sequence[int]) -> Iterator[Any]:
        """Give for each symbol row, node and file, its slot there of how many, and the points it hangs on."""
        for start in range(0, len(rows), _BATCH):
            batch = rows[start : start + _BATCH]
            yield from self._db.execute(
                "SELECT s.id, t.id, f.repo, f.path, t.children + s.leaf, t.children + t.leaves, t.point,"
                " coalesce(g.point, t.point) FROM symbols s JOIN files f ON f.id = s.file_id"
                " JOIN tree t ON t.id = f.node LEFT JOIN tree g ON g.id = t.parent"
                f" WHERE s.id IN ({','.join('?' * len(batch))})",
                batch,
            )

    def _above(self, node: int, depth: int) -> int:
        """Return the node at a depth that holds another, or is the same."""
        (found,) = self._db.execute("SELECT depth FROM tree WHERE id = ?", (node,)).fetchone()
        for _ in range(found - depth):
            (node,) = self._db.execute("SELECT parent FROM tree WHERE id = ?", (node,)).fetchone()
        return node

    def _point(self, node: int) -> bytes:
        (point,) = self._db.execute("SELECT point FROM tree WHERE id = ?", (node,)).fetchone()
        return bytes(point)


def _ints(values: Iterable[int]) -> NDArray[np.int64]:
    import numpy as np

    return np.array(list(values), np.int64)


def _packed(points: NDArray[Any]) -> list[bytes]:
    """Return points as they are stored: numbers of the machine, or decimals as text."""
    if points.dtype != object:
        return [point.tobytes() for point in points]
    return [" ".join(map(str, point)).encode() for point in points]


def _unpacked(stored: Sequence[bytes], scale: Scale) -> NDArray[Any]:
    """Return stored points; nothing stored is the origin."""
    import numpy as np

    if not scale.decimal:
        origin = bytes(8 * scale.dimension)
        joined = b"".join(each or origin for each in stored)
        return np.frombuffer(joined, np.float64).reshape(len(stored), scale.dimension)
    from decimal import Decimal

    points = np.full((len(stored), scale.dimension), Decimal(0), object)
    for n, each in enumerate(stored):
        if each:
            points[n] = [Decimal(number) for number in each.decode().split(" ")]
    return points
