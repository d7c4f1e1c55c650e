"""Records what a command does to a folder: every write, name and sync of all its processes, by strace."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from power_cuts.disk import (
    PASSING,
    Disk,
    Entries,
    Node,
    Operation,
    Recording,
    Resize,
    Sync,
    Write,
    image_after,
    read_image,
    read_tree,
)

_CALLS = (
    "openat,open,creat,write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,lseek,mmap,msync,"
    "rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,symlink,symlinkat,"
    "fsync,fdatasync,sync_file_range,sync,syncfs,copy_file_range,sendfile"
)
# Beyond any single write of a small index.
_LONGEST = 64_000_000
_WHOLE = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\d+|\?).*", re.DOTALL)
_BEGUN = re.compile(r"(\d+) +(\w+)\((.*) <unfinished \.\.\.>", re.DOTALL)
_ENDED = re.compile(r"(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (-?\d+|\?).*", re.DOTALL)
_ARGUMENT = re.compile(r'"([^"]*)"|(AT_FDCWD|-?\d+)<([^>]*)>|([^,<>" ]+)')


def record(folder: Path, command: Sequence[str], environment: dict[str, str] | None = None) -> Recording:
    """Run a command and return what it did to a folder, which is compared with what is there afterwards."""
    root = read_tree(folder)
    with tempfile.NamedTemporaryFile(mode="r", encoding="ascii", errors="replace") as log:
        strace = ["strace", "-f", "--seccomp-bpf", "-qq", "-y", "-xx", "-s", str(_LONGEST)]
        done = subprocess.run(
            [*strace, "-e", f"trace={_CALLS}", "-o", log.name, *command],
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stderr[-2000:]}")
        parser = _Parser(folder, root)
        for line in log:
            parser.read(line)
    recording = Recording(root, parser.operations)
    replayed, real = image_after(root, recording.operations), read_image(folder)
    if replayed != real:
        differing = sorted(
            path for path in replayed.keys() | real if replayed.get(path, 0) != real.get(path, 0)
        )
        raise RuntimeError(f"not all was recorded: {differing}")
    return recording


class _Parser:
    """Turns lines of strace into operations; an operation counts from when its call has returned."""

    def __init__(self, folder: Path, root: Node) -> None:
        self.operations: list[Operation] = []
        self._folder = str(folder.resolve())
        self._mark = _hex(self._folder)
        self._disk = Disk(root)
        self._begun: dict[tuple[str, str], tuple[str, int]] = {}  # arguments, and operations before
        self._offsets: dict[tuple[Node, str], int] = {}

    def read(self, line: str) -> None:
        """Take in one line."""
        if begun := _BEGUN.match(line):
            if self._mark in line:
                self._begun[begun[1], begun[2]] = (begun[3], len(self.operations))
        elif ended := _ENDED.match(line):
            if known := self._begun.pop((ended[1], ended[2]), None):
                self._call(ended[2], known[0] + ended[3], ended[4], known[1])
        elif self._mark in line and (whole := _WHOLE.match(line)):
            self._call(whole[2], whole[3], whole[4], len(self.operations))

    def _call(self, name: str, text: str, result: str, before: int) -> None:
        if result in ("?", "-1"):
            return
        arguments = _arguments(text)
        match name:
            case "openat" | "open" | "creat":
                self._open(name, arguments, result)
            case "write" | "pwrite64":
                self._write(name, arguments, int(result))
            case "lseek":
                if node := self._node(arguments[0]):
                    self._offsets[node, arguments[0][0]] = int(result)
            case "ftruncate" | "truncate":
                if node := self._node(arguments[0]):
                    self._do(Resize(node, int(arguments[1][0])))
            case "fsync" | "fdatasync":
                if node := self._node(arguments[0]):
                    self.operations.append(Sync(node, before))
            case "mkdir" | "mkdirat":
                self._enter(self._path(arguments, 0), Node(entries={}))
            case "link" | "linkat":
                paths = self._paths(arguments)
                self._enter(paths[1], self._disk.find(paths[0] or ""))
            case "unlink" | "unlinkat" | "rmdir":
                self._enter(self._path(arguments, 0), None)
            case "rename" | "renameat" | "renameat2":
                self._rename(*self._paths(arguments))
            case "mmap":
                if "PROT_WRITE" in text and "MAP_SHARED" in text and self._node(arguments[4]):
                    raise RuntimeError(f"writes through a memory map are not recorded: {arguments[4]}")
            case _:
                raise RuntimeError(f"{name} is not recorded")

    def _open(self, name: str, arguments: list[tuple[str, str]], result: str) -> None:
        path = self._path(arguments, 0)
        if path is None or path.endswith(PASSING):
            return
        flags = " ".join(first for first, _ in arguments)
        node = self._disk.find(path)
        if node is None and (name == "creat" or "O_CREAT" in flags):
            node = Node()
            self._enter(path, node)
        if node is None or node.is_folder:
            return
        if "O_TRUNC" in flags or name == "creat":
            self._do(Resize(node, 0))
        self._offsets[node, result] = self._disk.size(node) if "O_APPEND" in flags else 0

    def _write(self, name: str, arguments: list[tuple[str, str]], count: int) -> None:
        if (node := self._node(arguments[0])) is None:
            return
        data = _unhex(arguments[1][1])[:count]
        if name == "pwrite64":
            self._do(Write(node, int(arguments[3][0]), data))
            return
        key = (node, arguments[0][0])
        offset = self._offsets[key]
        self._do(Write(node, offset, data))
        self._offsets[key] = offset + count

    def _rename(self, source: str | None, target: str | None) -> None:
        node = self._disk.find(source) if source else None
        changes = [] if source is None else [(*self._parent(source), None)]
        if target is not None:
            if node is None:
                raise RuntimeError(f"something from elsewhere was renamed to {target}")
            changes.append((*self._parent(target), node))
        self._do(Entries(tuple(changes)))

    def _enter(self, path: str | None, node: Node | None) -> None:
        if path and not path.endswith(PASSING):
            self._do(Entries(((*self._parent(path), node),)))

    def _do(self, operation: Operation) -> None:
        self._disk.apply(operation)
        self.operations.append(operation)

    def _parent(self, path: str) -> tuple[Node, str]:
        folder, _, name = path.rpartition("/")
        node = self._disk.find(folder)
        assert node is not None, path
        return node, name

    def _node(self, handle: tuple[str, str]) -> Node | None:
        """Return the file of an open handle, or of a path; None if it is elsewhere, or gone."""
        path = self._inside(os.fsdecode(_unhex(handle[1])))
        return None if path is None or path.endswith(PASSING) else self._disk.find(path)

    def _path(self, arguments: list[tuple[str, str]], number: int) -> str | None:
        return self._paths(arguments)[number]

    def _paths(self, arguments: list[tuple[str, str]]) -> list[str | None]:
        """Return the paths that a call names, each within the folder that comes before it."""
        found, folder = [], ""
        for kind, value in arguments:
            text = os.fsdecode(_unhex(value))
            if kind == "text":
                found.append(self._inside(os.path.join(folder, text)))
            elif value:
                folder = text
        return found

    def _inside(self, path: str) -> str | None:
        if path == self._folder:
            return ""
        return path.removeprefix(self._folder + "/") if path.startswith(self._folder + "/") else None


def _arguments(text: str) -> list[tuple[str, str]]:
    """Return arguments as (number, path of an open file), ("text", its bytes) or (word, "")."""
    return [
        ("text", match[1]) if match[1] is not None else (match[2] or match[4], match[3] or "")
        for match in _ARGUMENT.finditer(text)
    ]


def _hex(text: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(text))


def _unhex(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))
