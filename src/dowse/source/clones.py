"""Copies of remote repositories in the cache folder, each a work tree that dowse itself wrote.

`repositories/DIGEST/NAME` is a folder like any checkout, with a shallow `.git` beside the files. It appears
by one rename, so that an interrupted clone leaves nothing that could be taken for one.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from dowse.config import cache_folder
from dowse.errors import DowseError
from dowse.lazy_classes import NamedTuple
from dowse.runtime_paths import digest
from dowse.security.safe_files import make_private_directory, read_regular_file, write_atomically
from dowse.source.git_address import GitAddress
from dowse.source.git_objects import export_files, exported_blobs
from dowse.source.git_process import GitError, GitMissing, fetch_commit, make_repository, open_sandboxed_git
from dowse.source.walk import MAX_FILE_BYTES
from dowse.write_lock import write_lock

_RECORD = "dowse-clone.json"
_MAX_RECORD_BYTES = 100_000
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s']+@")


class Clone(NamedTuple):
    """A copy of a remote repository."""

    root: Path
    address: str  # without credentials
    commit: str
    fetched_at: int


def find_clone(address: GitAddress) -> Clone | None:
    """Return the copy of a repository, None if there is none yet."""
    folder = _folder(address)
    with contextlib.suppress(OSError):
        os.utime(folder)  # it is in use (`disk_use.py`)
    return read_clone(folder / address.name)


def read_clone(root: Path) -> Clone | None:
    """Return what a folder is a copy of; None for any other folder."""
    if root.parent.parent != _clones_folder():
        return None
    try:
        facts = json.loads(read_regular_file(root / ".git" / _RECORD, _MAX_RECORD_BYTES))
        clone = Clone(root, str(facts["address"]), str(facts["commit"]), int(facts["fetched_at"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return clone if exported_blobs(root / ".git")[0] == clone.commit else None


def fetch_clone(
    address: GitAddress,
    *,
    history: bool = False,
    may_ask: bool = False,
    on_wait: Callable[[str], None] = lambda _: None,
) -> Clone:
    """Clone a repository, or bring its copy up to date.

    Args:
        address: Where it is.
        history: Whether to fetch all commits; else the last one alone.
        may_ask: Whether git may ask for a password on the terminal.
        on_wait: Called once with a message if another process fetches the same.

    Raises:
        DowseError: git failed; a copy that was there stays as it was.
    """
    folder = _folder(address)
    root = folder / address.name
    with write_lock(folder, None, on_wait):
        _remove_unfinished(folder)
        try:
            if (root / ".git").is_dir():
                return _fetch(root, address, history, may_ask)
            with tempfile.TemporaryDirectory(dir=folder, prefix="new-") as name:
                _fetch(Path(name), address, history, may_ask)
                Path(name).rename(root)
                Path(name).mkdir()  # for the removal at the end
        except GitError as error:
            raise _failure(address, error) from None
    clone = read_clone(root)
    if clone is None:
        raise DowseError(
            f"the copy of {address.shown} can't be read; remove it with `dowse clear` and try again"
        )
    return clone


def has_history(clone: Clone) -> bool:
    """Whether a copy has all commits."""
    return not (clone.root / ".git" / "shallow").exists()


def remove_clone(address: GitAddress) -> Path | None:
    """Remove the copy of a repository and return its folder; None if there is none."""
    folder = _folder(address)
    if not folder.is_dir():
        return None
    shutil.rmtree(folder)
    return folder


def _fetch(root: Path, address: GitAddress, history: bool, may_ask: bool) -> Clone:
    directory = root / ".git"
    if not directory.exists():
        make_private_directory(directory)
        make_repository(str(directory), GitAddress(address.url).shown)
    elif not (directory / "shallow").exists():
        history = True  # a shallow fetch would cut off what is there
    commit = fetch_commit(str(directory), address.url, address.ref, history=history, may_ask=may_ask)
    write_atomically(directory / "HEAD", commit.encode() + b"\n")
    with open_sandboxed_git(str(directory), commit, MAX_FILE_BYTES) as git:
        export_files(git, commit, root, directory, MAX_FILE_BYTES)
    clone = Clone(root, address.shown, commit, int(time.time()))
    facts = {"address": clone.address, "commit": commit, "fetched_at": clone.fetched_at}
    write_atomically(directory / _RECORD, json.dumps(facts).encode())
    return clone


def _failure(address: GitAddress, error: GitError) -> DowseError:
    if isinstance(error, GitMissing):
        return error
    reason = _CREDENTIALS.sub("", str(error).replace(address.url, GitAddress(address.url).shown))
    hint = "check the address and the ref"
    if "could not read" in reason or "Authentication" in reason or "Permission denied" in reason:
        hint = "try `git ls-remote` with it, which sets up your credentials"
    elif re.search(r"returned error: 30\d", reason):
        hint = "the server names another address: use that one, as dowse connects to no other than you name"
    return DowseError(f"{address.shown} can't be fetched ({reason}); {hint}")


def _remove_unfinished(folder: Path) -> None:
    for left in folder.glob("new-*"):
        with contextlib.suppress(OSError):
            shutil.rmtree(left)


def _folder(address: GitAddress) -> Path:
    return _clones_folder() / digest(address.shown)


def _clones_folder() -> Path:
    return cache_folder() / "repositories"
