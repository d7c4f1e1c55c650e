"""What a branch changed: lines of its files, against a commit that it began from."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from dowse.errors import DowseError
from dowse.history.log import Hunk, read_diff
from dowse.lazy_classes import NamedTuple
from dowse.security.safe_files import read_below
from dowse.source.git import read_head
from dowse.source.git_objects import TreeFile, list_files
from dowse.source.git_process import GitError, GitMissing, SandboxedGit, open_sandboxed_git
from dowse.source.revisions import GitFolder, find_git_folder, resolve_revision
from dowse.source.walk import MAX_FILE_BYTES

# Files whose ids are given to one git process.
_BATCH = 200


class Changes(NamedTuple):
    """Changed lines by path, relative to the folder that was asked about."""

    hunks: Mapping[str, tuple[Hunk, ...]]
    blobs: Mapping[str, str]  # the content of each file after the change
    base: str  # the commit that the branch began from
    head: str  # the last commit; "" for the work tree


def parse_range(text: str) -> tuple[str, str]:
    """Return base and head of `BASE..HEAD`; the head of `BASE..` and `BASE` is "", the work tree."""
    base, dots, head = text.partition("..")
    head = head.removeprefix(".") if dots else ""
    if not base or ".." in head:
        raise DowseError(f"{text[:100]} is no range; write BASE..HEAD, or BASE.. for the work tree")
    return base, head


def read_changes(root: Path, base: str, head: str, files: Iterable[str] = ()) -> Changes:
    """Compare a branch with the commit that it began from, as `git diff BASE...HEAD` does.

    Args:
        root: A folder of the repository.
        base: The revision to compare with.
        head: The branch; "" compares the work tree.
        files: The files of the work tree, relative to the root; of those that git does not know, all is new.
    """
    folder = find_git_folder(root)
    tip = resolve_revision(folder, head or "HEAD")
    start = resolve_revision(folder, base)
    try:
        with open_sandboxed_git(folder.common, tip, MAX_FILE_BYTES, own_objects=True) as git:
            start = _merge_base(git, start, tip)
            end = tip if head else _write_tree(git, start, _changed_files(git, start, folder, root, files))
            changes = [change for change in read_diff(git, start, end) if change.blob]
    except GitMissing:
        raise
    except GitError as error:
        raise DowseError(f"git could not compare {base} with {head or 'the work tree'} ({error})") from error
    inner = {
        change.path.removeprefix(folder.prefix): change
        for change in changes
        if change.path.startswith(folder.prefix)
    }
    return Changes(
        {path: change.hunks for path, change in inner.items()},
        {path: change.blob for path, change in inner.items()},
        start,
        tip if head else "",
    )


def is_checked_out(root: Path, changes: Changes) -> bool:
    """Whether the work tree has what a branch changed: then its index can answer for the branch."""
    folder = find_git_folder(root)
    if changes.head != read_head(folder.directory, folder.common):
        return False
    return all(_blob_id(_read(root, path), len(blob)) == blob for path, blob in changes.blobs.items())


def _merge_base(git: SandboxedGit, one: str, other: str) -> str:
    try:
        return git.run("merge-base", one, other).decode("ascii").split()[0]
    except (GitError, IndexError):  # no common history: compared as they are
        return one


def _changed_files(
    git: SandboxedGit, commit: str, folder: GitFolder, root: Path, files: Iterable[str]
) -> dict[str, bytes]:
    """Return the files of the work tree whose content is not that of a commit."""
    known: dict[str, TreeFile] = {file.path: file for file in list_files(git, commit)}
    changed = {}
    for name in files:
        data = _read(root, name)
        path = folder.prefix + name
        blob = known[path].blob if path in known else ""
        # A work tree may have been checked out with other line ends.
        if data is not None and blob not in (_blob_id(data, len(commit)), _blob_id(_unix(data), len(commit))):
            changed[path] = _unix(data)
    return changed


def _write_tree(git: SandboxedGit, commit: str, files: Mapping[str, bytes]) -> str:
    """Make a tree of a commit with other content in some files, in the private folder, and return its id."""
    entries = []
    for path, data in files.items():
        blob = _blob_id(data, len(commit))
        git.store_object(blob, zlib.compress(_blob(data), 1))
        entries.append(f"100644,{blob},{path}")
    git.run("read-tree", commit)
    for start in range(0, len(entries), _BATCH):
        added = [part for entry in entries[start : start + _BATCH] for part in ("--cacheinfo", entry)]
        git.run("update-index", "--add", "--replace", *added)
    return git.run("write-tree").decode("ascii").strip()


def _read(root: Path, path: str) -> bytes | None:
    try:
        return read_below(root, path, MAX_FILE_BYTES)
    except (OSError, ValueError):
        return None


def _unix(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def _blob(data: bytes) -> bytes:
    return b"blob %d\0" % len(data) + data


def _blob_id(data: bytes | None, length: int) -> str:
    """Return the object name of a content; its length tells the hash of the repository."""
    if data is None:
        return ""
    name = "sha256" if length == 64 else "sha1"
    return hashlib.new(name, _blob(data), usedforsecurity=False).hexdigest()
