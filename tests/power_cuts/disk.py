"""A folder and what was done to it, operation by operation; what of it survives is up to the disk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

# SQLite's shared memory is of no use after a power cut: the next process makes it anew.
PASSING = "-shm"


@dataclass(slots=True, eq=False)
class Node:
    """A file or folder, whatever its names, as it was before."""

    data: bytes = b""
    entries: dict[str, Node] | None = None  # of a folder

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.entries is not None


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes written into a file."""

    node: Node
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Resize:
    """A file cut or extended."""

    node: Node
    size: int


@dataclass(frozen=True, slots=True)
class Extend:
    """A file extended by zeros, if it is shorter."""

    node: Node
    size: int


@dataclass(frozen=True, slots=True)
class Entries:
    """Names set or removed, all at once: a new file, a link, a rename, a removal."""

    changes: tuple[tuple[Node, str, Node | None], ...]


@dataclass(frozen=True, slots=True)
class Sync:
    """`fsync` of a file or folder; it covers the operations before it began."""

    node: Node
    covers: int


Operation: TypeAlias = Write | Resize | Extend | Entries | Sync
# Bytes by path; None for a folder.
Image: TypeAlias = dict[str, bytes | None]


@dataclass(slots=True)
class Recording:
    """A folder before a command, and what the command did to it."""

    root: Node
    operations: list[Operation] = field(default_factory=list)


def read_tree(folder: Path) -> Node:
    """Read a folder; hard links to one file are one node."""
    by_inode: dict[tuple[int, int], Node] = {}

    def read(path: Path) -> Node:
        if path.is_dir():
            return Node(
                entries={entry.name: read(entry) for entry in sorted(path.iterdir()) if _stays(entry.name)}
            )
        status = path.stat()
        key = (status.st_dev, status.st_ino)
        if key not in by_inode:
            by_inode[key] = Node(path.read_bytes())
        return by_inode[key]

    return read(folder) if folder.exists() else Node(entries={})


def durable(operations: Sequence[Operation], end: int) -> set[int]:
    """Return which of the first operations were synced: those of a folder only by syncing the folder."""
    open_nodes: dict[int, set[Node]] = {}
    sure = set()
    for number, operation in enumerate(operations[:end]):
        if isinstance(operation, Sync):
            for earlier, nodes in list(open_nodes.items()):
                if earlier < operation.covers:
                    nodes.discard(operation.node)
                    if not nodes:
                        sure.add(earlier)
                        del open_nodes[earlier]
        elif isinstance(operation, Entries):
            open_nodes[number] = {folder for folder, _, _ in operation.changes}
        else:
            open_nodes[number] = {operation.node}
    return sure


class Disk:
    """A folder to which operations are applied."""

    def __init__(self, root: Node) -> None:
        self._root = root
        self._contents: dict[Node, bytearray] = {}
        self._entries: dict[Node, dict[str, Node]] = {}

    def apply(self, operation: Operation) -> None:
        """Apply one operation."""
        match operation:
            case Write(node, offset, data):
                content = self._content(node)
                content.extend(bytes(max(0, offset - len(content))))
                content[offset : offset + len(data)] = data
            case Resize(node, size) | Extend(node, size):
                content = self._content(node)
                content.extend(bytes(max(0, size - len(content))))
                if isinstance(operation, Resize):
                    del content[size:]
            case Entries(changes):
                for folder, name, target in changes:
                    entries = self.entries(folder)
                    if target is None:
                        entries.pop(name, None)
                    else:
                        entries[name] = target

    def entries(self, folder: Node) -> dict[str, Node]:
        """Return the names in a folder."""
        if folder not in self._entries:
            self._entries[folder] = dict(folder.entries or {})
        return self._entries[folder]

    def find(self, path: str) -> Node | None:
        """Return what has a path; None for nothing."""
        node = self._root
        for name in path.split("/") if path else ():
            found = self.entries(node).get(name) if node.is_folder else None
            if found is None:
                return None
            node = found
        return node

    def size(self, node: Node) -> int:
        """Return the size of a file."""
        return len(self._contents.get(node, node.data))

    def image(self) -> Image:
        """Return every file and folder."""
        found: Image = {}

        def visit(folder: Node, path: str) -> None:
            for name, node in self.entries(folder).items():
                found[path + name] = None if node.is_folder else bytes(self._contents.get(node, node.data))
                if node.is_folder:
                    visit(node, f"{path}{name}/")

        visit(self._root, "")
        return found

    def _content(self, node: Node) -> bytearray:
        if node not in self._contents:
            self._contents[node] = bytearray(node.data)
        return self._contents[node]


def image_after(root: Node, operations: Iterable[Operation]) -> Image:
    """Return a folder after some operations."""
    disk = Disk(root)
    for operation in operations:
        disk.apply(operation)
    return disk.image()


def write_image(image: Image, folder: Path) -> None:
    """Make a folder of an image."""
    folder.mkdir(parents=True)
    for path, data in sorted(image.items()):
        if data is None:
            (folder / path).mkdir()
        else:
            (folder / path).write_bytes(data)


def read_image(folder: Path) -> Image:
    """Return every file and folder in a real folder."""
    found: Image = {}
    for parent, folders, files in os.walk(folder):
        relative = Path(parent).relative_to(folder)
        found.update({str(relative / name): None for name in folders})
        found.update(
            {str(relative / name): Path(parent, name).read_bytes() for name in files if _stays(name)}
        )
    return found


def _stays(name: str) -> bool:
    return not name.endswith(PASSING)
