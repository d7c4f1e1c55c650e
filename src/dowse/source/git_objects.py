"""Reads git objects: blobs by id, the files of a commit, and writes these to a folder.

A folder is filled by dowse, never by `git checkout`: no filters, hooks, attributes, links or submodules.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from dowse.errors import DowseError
from dowse.lazy_classes import NamedTuple
from dowse.security.safe_files import read_regular_file, write_atomically
from dowse.source.git_process import GitError, GitProcess, SandboxedGit

# What is in a folder that was filled from a commit; it is written last.
EXPORT_FILE = "dowse-export.json"
# Far above real repositories; a few kilobytes of trees can name any number of files.
MAX_FILES = 1_000_000
MAX_TOTAL_BYTES = 8_000_000_000
_MAX_ENTRY_BYTES = 65_536
_MAX_EXPORT_FILE_BYTES = 512_000_000
_MAX_PARTS = 150
PLAIN_FILES = (b"100644", b"100755")


class TreeFile(NamedTuple):
    """A regular file of a commit."""

    path: str
    blob: str
    size: int


class Blobs:
    """Blobs of a repository by their ids, through two git processes: one for sizes, one for contents.

    The size is asked for first, since a few bytes of a pack can expand to any number (decompression bomb).
    """

    def __init__(self, sizes: GitProcess, texts: GitProcess, max_bytes: int) -> None:
        self._sizes, self._texts, self._max_bytes = sizes, texts, max_bytes

    def read(self, name: str) -> bytes | None:
        """Return the content of a blob; None if it is missing, or larger than any file that is indexed."""
        size = _blob_size(self._sizes.request(name))
        if size is None or size > self._max_bytes:
            return None
        if _blob_size(self._texts.request(name)) != size:
            return None
        return self._texts.read_exactly(size + 1)[:-1]  # without the line break after it


def _blob_size(answer: bytes) -> int | None:
    """Read "NAME blob SIZE"; None for "NAME missing" and other objects."""
    fields = answer.split()
    if len(fields) != 3 or fields[1] != b"blob" or not fields[2].isdigit():
        return None
    return int(fields[2])


@contextlib.contextmanager
def open_blobs(git: SandboxedGit, max_bytes: int) -> Iterator[Blobs]:
    """Start the git processes that read blobs, and end them."""
    with (
        git.start("cat-file", "--batch-check", interactive=True) as sizes,
        git.start("cat-file", "--batch", interactive=True) as texts,
    ):
        yield Blobs(sizes, texts, max_bytes)


def list_files(git: SandboxedGit, commit: str) -> Iterator[TreeFile]:
    """Yield the regular files of a commit; links, submodules and paths that lead elsewhere are left out."""
    with git.start("ls-tree", "-r", "-l", "-z", "--full-tree", commit) as process:
        for entry in _entries(process):
            facts, _, name = entry.partition(b"\t")
            mode, kind, blob, size = facts.split()
            path = os.fsdecode(name)
            if kind == b"blob" and not size.isdigit():
                raise GitError("objects are missing, as in a partial clone")
            if mode in PLAIN_FILES and kind == b"blob" and is_inner_path(path):
                yield TreeFile(path, blob.decode(), int(size))
        process.finish()


def _entries(process: GitProcess) -> Iterator[bytes]:
    """Yield what git ends with a NUL."""
    pending = b""
    while block := process.read_block():
        *entries, pending = (pending + block).split(b"\0")
        yield from entries
        if len(pending) > _MAX_ENTRY_BYTES:
            raise GitError("a path of its output is too long")


def is_inner_path(path: str) -> bool:
    """Whether a path of a tree stays in its folder and out of git's own."""
    parts = path.split("/")
    return len(parts) <= _MAX_PARTS and not any(
        part in ("", ".", "..") or part.lower() == ".git" or "\0" in part for part in parts
    )


def export_files(git: SandboxedGit, commit: str, folder: Path, record: Path, max_bytes: int) -> None:
    """Make a folder hold the files of a commit: what is there already is kept, what is not in it is removed.

    Args:
        git: The repository.
        commit: Its hash.
        folder: Filled by this function alone.
        record: The folder of the file that says what was written.
        max_bytes: Larger files are left out.
    """
    known = exported_blobs(record)[1]
    (record / EXPORT_FILE).unlink(missing_ok=True)  # an interrupted run starts again from nothing known
    wanted: dict[str, str] = {}
    total = 0
    for file in list_files(git, commit):
        if file.size > max_bytes:
            continue
        wanted[file.path] = file.blob
        total += file.size
        if len(wanted) > MAX_FILES or total > MAX_TOTAL_BYTES:
            raise DowseError(
                f"the repository has more than {MAX_FILES:,} files or {MAX_TOTAL_BYTES:,} bytes; "
                "clone a part of it"
            )
    _remove_others(folder, wanted)
    with open_blobs(git, max_bytes) as blobs:
        for path, blob in wanted.items():
            if known.get(path) != blob and (data := blobs.read(blob)) is not None:
                with contextlib.suppress(OSError, ValueError):  # a name that this system can't have
                    _write(folder / path, data)
    content = json.dumps({"commit": commit, "files": wanted}).encode("utf-8", "surrogateescape")
    write_atomically(record / EXPORT_FILE, content)


def exported_blobs(record: Path) -> tuple[str, dict[str, str]]:
    """Return the commit that a folder was filled from, "" if it is not complete, and its blobs by path."""
    try:
        data = json.loads(read_regular_file(record / EXPORT_FILE, _MAX_EXPORT_FILE_BYTES))
        return str(data["commit"]), dict(data["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return "", {}


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        file.write(data)


def _remove_others(folder: Path, wanted: dict[str, str]) -> None:
    """Remove files that the commit does not have, and folders that become empty."""
    for name, folders, files in os.walk(folder, topdown=False):
        here = Path(name)
        if ".git" in here.relative_to(folder).parts[:1]:
            continue
        for each in files:
            if str((here / each).relative_to(folder)) not in wanted:
                (here / each).unlink()
        for each in folders:
            if here != folder or each != ".git":
                with contextlib.suppress(OSError):
                    (here / each).rmdir()
