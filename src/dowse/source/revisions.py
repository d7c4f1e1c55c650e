"""Other branches, tags and commits of a repository: their files in the cache, read from git's objects.

The work tree is not touched. A few folders of each repository are kept, those used last.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from dowse.config import Settings, cache_folder, index_folder
from dowse.errors import DowseError
from dowse.lazy_classes import NamedTuple
from dowse.runtime_paths import digest
from dowse.security.safe_files import make_private_directory, write_atomically
from dowse.source.git import (
    common_directory,
    git_directory,
    is_commit_hash,
    read_head,
    read_ref,
    repo_identity,
    toplevel,
)
from dowse.source.git_address import is_safe_ref
from dowse.source.git_objects import export_files, exported_blobs
from dowse.source.git_process import GitError, GitMissing, make_repository, open_sandboxed_git
from dowse.source.walk import MAX_FILE_BYTES
from dowse.write_lock import write_lock

# Folders, with their indexes, that are kept of each repository.
KEPT = 5
_REVISION = re.compile(r"(?P<name>[^~^]+)(?P<steps>(?:[~^]\d{0,6}){0,20})")
_ABBREVIATED = re.compile(r"[0-9a-f]{4,64}")


class GitFolder(NamedTuple):
    """The git folder of a repository, and where a path is in its work tree."""

    directory: str
    common: str  # shared by linked work trees
    prefix: str  # from the top of the work tree: "" or ending with "/"


def find_git_folder(root: Path) -> GitFolder:
    """Return the git folder that a path belongs to; raises DowseError if there is none."""
    top = toplevel(root)
    directory = git_directory(top) if top is not None else None
    if top is None or directory is None:
        raise DowseError(f"{root} is in no git repository; only these have other revisions")
    prefix = "" if str(root) == top else root.relative_to(top).as_posix() + "/"
    return GitFolder(directory, common_directory(directory), prefix)


def resolve_revision(folder: GitFolder, revision: str) -> str:
    """Return the commit of a branch, tag, hash (also abbreviated), or of one of these with `~N` or `^`.

    Raises:
        DowseError: There is none; the text never reaches git as an option.
    """
    match = _REVISION.fullmatch(revision)
    if match is None or not is_safe_ref(match["name"]):
        raise DowseError(f"{revision[:100]} is no name of a branch or tag and no commit; see `git branch -a`")
    start = read_ref(folder.directory, folder.common, match["name"])
    if not start and _ABBREVIATED.fullmatch(match["name"]):
        start = match["name"]
    head = read_head(folder.directory, folder.common) or "0" * 40
    if not start:
        raise _unknown(revision)
    try:
        with open_sandboxed_git(folder.common, head, MAX_FILE_BYTES) as git:
            arguments = ("rev-parse", "--verify", "--quiet", f"{start}{match['steps']}^{{commit}}")
            commit = git.run(*arguments).decode("ascii", "replace").strip()
    except GitMissing:
        raise
    except GitError:
        commit = ""
    if not is_commit_hash(commit):
        raise _unknown(revision)
    return commit


def export_revision(root: Path, revision: str) -> Path:
    """Return a folder with the files of a revision; one that has the same place in the tree as `root`.

    Raises:
        DowseError: There is no such revision, or git's objects can't be read.
    """
    folder = find_git_folder(root)
    commit = resolve_revision(folder, revision)
    places = _revisions_folder() / digest(folder.common)
    name = repo_identity(root)
    plain = re.sub(r"[^\w.-]+", "-", name.rpartition("/")[2])
    place = places / f"{plain}-{commit[:12]}"
    with write_lock(places, None, lambda _: None):
        if exported_blobs(place / ".git")[0] != commit:
            _export(folder, commit, place, name)
        os.utime(place)
        _remove_old(places)
    target = place / folder.prefix
    if not target.is_dir():
        raise DowseError(f"{revision} has no folder {folder.prefix.rstrip('/')}")
    return target


def remove_revisions(root: Path) -> None:
    """Remove all folders of revisions of a repository, with their indexes."""
    top = toplevel(root)
    directory = git_directory(top) if top is not None else None
    if directory is not None:
        places = _revisions_folder() / digest(common_directory(directory))
        if places.is_dir():
            _remove_old(places, kept=0)
            shutil.rmtree(places)


def is_revision(root: Path) -> bool:
    """Whether a folder is one of those."""
    return root.is_relative_to(_revisions_folder())


def _export(folder: GitFolder, commit: str, place: Path, name: str) -> None:
    record = place / ".git"
    make_private_directory(record)
    # No objects: it only tells the name of the repository and the commit, as any checkout does.
    make_repository(str(record), name)
    write_atomically(record / "HEAD", commit.encode() + b"\n")
    try:
        with open_sandboxed_git(folder.common, commit, MAX_FILE_BYTES) as git:
            export_files(git, commit, place, record, MAX_FILE_BYTES)
    except GitMissing:
        raise
    except GitError as error:
        raise DowseError(f"{commit[:12]} can't be read ({error}); `git fsck` may tell more") from error


def _remove_old(places: Path, kept: int = KEPT) -> None:
    """Remove all but the folders used last, with their indexes."""
    folders = sorted(
        (each for each in places.iterdir() if each.is_dir()), key=lambda each: -each.stat().st_mtime
    )
    for old in folders[kept:]:
        shutil.rmtree(index_folder(old, Settings()), ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _unknown(revision: str) -> DowseError:
    return DowseError(f"there is no revision {revision[:100]} here; `git branch -a` and `git tag` list them")


def _revisions_folder() -> Path:
    return cache_folder() / "revisions"
