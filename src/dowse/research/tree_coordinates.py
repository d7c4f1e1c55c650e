"""Coordinates of symbols in the Poincaré ball that the repository tree is embedded in.

The tree is root, repositories, folders, files; symbols are leaves below their file. The children of a node
are ordered by name and its symbols follow them, so coordinates depend on nothing but the tree. A point
depends on its ancestors alone: only the nodes above the symbols in question are embedded.

The shape of the tree is computed on first use and cached in the index folder. A cluster may hold thousands
of repositories and has no such folder: there, the tree has the symbols in question and no others. It has the
same paths as the whole tree, so distances order pairs of symbols as hops do; only the angles are wider.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dowse.errors import IndexDamaged
from dowse.lazy_classes import dataclass
from dowse.research.hyperbolic.chains import MAX_DEPTH, common_prefix, file_chain
from dowse.research.hyperbolic.embed import edge_length, embed, place_children, recenter
from dowse.research.hyperbolic.shape import Tree, tree_from_parents, tree_from_paths
from dowse.security.safe_files import make_private_directory, write_atomically

if TYPE_CHECKING:
    from dowse.research.hyperbolic.poincare import Points
    from dowse.storage.protocol import Reader
    from dowse.types import SymbolRow

    Ints = NDArray[np.integer]

_FILE = "tree.i64"
# Raised whenever the cached arrays mean something else.
_FORMAT_VERSION = 2


def tree_coordinates(reader: Reader, rows: Sequence[int], dimension: int) -> Points:
    """Return the points of symbols, one a row, seen from the deepest folder or file that holds them all."""
    symbols = reader.rows(rows)
    if not symbols:
        raise ValueError("there is no symbol to place")
    if reader.cache_folder is None:
        tree = FileTree.build((row.file_id, row.repo, row.path, 1) for row in dict.fromkeys(symbols))
        leaves = _leaf_numbers(tree, symbols, {})
    else:
        tree = _whole_tree(reader, reader.cache_folder, {row.file_id for row in symbols})
        files = tree.files_beside({row.file_id for row in symbols})
        # Several files have one path in a corpus: there, their keys come first.
        keys = {row.file_id: row.key for row in reader.file_rows(files)}
        leaves = _leaf_numbers(tree, reader.rows_of_files(files), keys)
    nodes = np.array([tree.node(row.file_id) for row in symbols])
    slots = tree.shape.degrees[nodes] + np.array([leaves[row.row] for row in symbols])
    if (slots >= tree.shape.degrees[nodes] + tree.symbols[nodes]).any():
        raise IndexDamaged(f"{_FILE} does not fit the index; run `dowse index --rebuild`")
    embedding = _Embedding(tree, nodes, dimension)
    placed = embedding.place_symbols(nodes, slots)
    shared = common_prefix([file_chain(row.repo, row.path) for row in symbols])
    if shared:  # else it is the root, which is the origin
        centre = tree.ancestor(int(nodes[0]), len(shared))
        placed = recenter(placed, embedding.points(np.array([centre]))[0])
    return placed


@dataclass(frozen=True, slots=True)
class FileTree:
    """Repositories, folders and files of an index as a tree."""

    shape: Tree
    symbols: Ints  # of each node: how many symbols hang on it
    file_ids: Ints  # ascending
    file_nodes: Ints  # of each file: its node

    @classmethod
    def build(cls, files: Iterable[tuple[int, str, str, int]]) -> FileTree:
        """Return the tree of files, each (file id, repository, path, number of symbols)."""
        counts: Counter[tuple[str, ...]] = Counter()
        chains: dict[int, tuple[str, ...]] = {}
        for file_id, repo, path, count in files:
            chains[file_id] = file_chain(repo, path)
            counts[chains[file_id]] += count
        ordered = sorted(counts)  # then nodes, and so their slots, are in the order of names
        shape, ends = tree_from_paths(ordered)
        symbols = np.zeros(len(shape), np.int64)
        symbols[ends] = [counts[chain] for chain in ordered]
        node_of = dict(zip(ordered, ends.tolist(), strict=True))
        file_ids = sorted(chains)
        file_nodes = [node_of[chains[file_id]] for file_id in file_ids]
        return cls(shape, symbols, np.array(file_ids, np.int64), np.array(file_nodes, np.int64))

    def node(self, file_id: int) -> int:
        """Return the node of a file."""
        return int(self.file_nodes[np.searchsorted(self.file_ids, file_id)])

    def holds(self, file_ids: Iterable[int]) -> bool:
        """Whether all these files are in the tree."""
        return bool(np.isin(list(file_ids), self.file_ids).all())

    def files_beside(self, file_ids: Iterable[int]) -> list[int]:
        """Return all files that share a node with one of these."""
        nodes = [self.node(file_id) for file_id in file_ids]
        file_ids_beside: list[int] = self.file_ids[np.isin(self.file_nodes, nodes)].tolist()
        return file_ids_beside

    def ancestor(self, node: int, depth: int) -> int:
        """Return the ancestor of a node at a depth; the node itself if it is not deeper."""
        for _ in range(int(self.shape.depths[node]) - depth):
            node = int(self.shape.parents[node])
        return node


class _Embedding:
    """The points of some nodes and their ancestors; nodes below `MAX_DEPTH` have that of their ancestor."""

    def __init__(self, tree: FileTree, nodes: Ints, dimension: int) -> None:
        shape = tree.shape
        self._tree = tree
        self._length = edge_length(min(shape.depth, MAX_DEPTH) + 1)  # with the level of the symbols
        level = np.array([tree.ancestor(node, MAX_DEPTH) for node in np.unique(nodes).tolist()])
        ancestors = [np.zeros(1, np.int64)]
        while level.any():
            ancestors.append(level)
            level = np.unique(shape.parents[level])
        self._nodes = np.unique(np.concatenate(ancestors))
        parents = np.searchsorted(self._nodes, shape.parents[self._nodes])
        degrees = shape.degrees[self._nodes] + tree.symbols[self._nodes]
        pruned = Tree(parents, shape.slots[self._nodes], degrees, shape.depths[self._nodes])
        self._points = embed(pruned, self._length, dimension)

    def points(self, nodes: Ints) -> Points:
        """Return the points of nodes."""
        embedded = [self._tree.ancestor(node, MAX_DEPTH) for node in nodes.tolist()]
        points: Points = self._points[np.searchsorted(self._nodes, embedded)]
        return points

    def place_symbols(self, nodes: Ints, slots: Ints) -> Points:
        """Return the points of symbols, given the node of each and its slot there."""
        shape = self._tree.shape
        degrees = shape.degrees[nodes] + self._tree.symbols[nodes]
        above = self.points(shape.parents[nodes])
        return place_children(self.points(nodes), above, slots, degrees, self._length)


def _leaf_numbers(
    tree: FileTree, symbols: Iterable[SymbolRow], file_keys: Mapping[int, str]
) -> dict[int, int]:
    """Return, by row, which of the symbols of its node each is: by key of the file, then by line."""
    by_node: dict[int, list[SymbolRow]] = defaultdict(list)
    for row in dict.fromkeys(symbols):
        by_node[tree.node(row.file_id)].append(row)
    numbers: dict[int, int] = {}
    for several in by_node.values():
        several.sort(key=lambda row: (file_keys.get(row.file_id, ""), row.start_line, -row.end_line, row.key))
        numbers.update((row.row, number) for number, row in enumerate(several))
    return numbers


def _whole_tree(reader: Reader, folder: Path, file_ids: Iterable[int]) -> FileTree:
    """Return the tree of all files: from memory, from the cache on disk, or computed.

    An index folder may come from anybody: a cached tree without these files, or with more symbols than the
    index has, is not used.
    """
    known = reader.derived.get(_FILE)
    if isinstance(known, FileTree):
        return known
    tree = _read(folder / _FILE, _stamp(reader))
    if tree is None or not tree.holds(file_ids) or tree.symbols.sum() != reader.symbol_count():
        files = reader.files()
        tree = FileTree.build((file.file_id, file.repo, file.path, file.symbols) for file in files)
        with contextlib.suppress(OSError):  # a folder that can't be written: it stays in memory
            make_private_directory(folder)
            _write(folder / _FILE, _stamp(reader), tree)
    reader.derived[_FILE] = tree
    return tree


def _stamp(reader: Reader) -> int:
    """Return a number for a generation of an index, and for the format of the file."""
    name = f"{_FORMAT_VERSION}-{reader.identity}-{reader.generation}"
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=7).digest(), "little")


def _write(path: Path, stamp: int, tree: FileTree) -> None:
    """Write a tree as 64-bit numbers: stamp, number of nodes, then its arrays; slots follow from parents."""
    arrays = (tree.shape.parents, tree.symbols, tree.file_ids, tree.file_nodes)
    numbers = np.concatenate([np.array([stamp, len(tree.shape)]), *arrays])
    write_atomically(path, numbers.astype("<i8").tobytes())


def _read(path: Path, stamp: int) -> FileTree | None:
    """Return the tree of a generation, None if the file has another one or can't be read."""
    try:
        numbers = np.frombuffer(path.read_bytes(), "<i8").astype(np.int64)
        if len(numbers) < 2 or numbers[0] != stamp or not 0 < numbers[1] <= len(numbers):
            return None
        nodes = int(numbers[1])
        parents, symbols, files = np.split(numbers[2:], [nodes, 2 * nodes])
        file_ids, file_nodes = np.split(files, 2)
        shape = tree_from_parents(parents)
    except (OSError, ValueError):
        return None
    is_sound = len(symbols) == nodes and symbols.min() >= 0 and (np.diff(file_ids) > 0).all()
    is_sound &= ((file_nodes >= 0) & (file_nodes < nodes)).all()
    return FileTree(shape, symbols, file_ids, file_nodes) if is_sound else None
