"""The diff between a tree and its index, for incremental updates (light to load: searches need it)."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.config import Settings
from dowse.errors import DowseError
from dowse.lazy_classes import dataclass, field, replace
from dowse.security.safe_files import read_below
from dowse.security.terminal import escape_surrogates
from dowse.source.git import git_directory, repo_identity
from dowse.source.secrets import is_secret_reason
from dowse.source.walk import SkippedFile, walk
from dowse.types import FileFingerprint

if TYPE_CHECKING:
    from dowse.indexing.parse_jobs import Job
    from dowse.source.tree_scanner import Entry, ScanResult
    from dowse.storage.protocol import Reader, Writer

# Size and time of files that are skipped for their content, with the reason: they are not opened again.
SkippedStamps = dict[str, tuple[tuple[int, int], str]]
# How many files of an index are looked up in a tree that it was not made from.
_SAMPLE = 50
# Folders that hold copies of other projects in many repositories, and code of their own in as many.
_FOLDERS_OF_COPIES = frozenset(["deps", "ext", "external", "extlib", "subprojects", "3p"])
_LICENCE = r"(?i)(?:licen[cs]es?|copying|unlicense)\b"


@dataclass(slots=True)
class Difference:
    """The files in which the tree and the index differ."""

    jobs: list[Job] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    skipped_stamps: SkippedStamps = field(default_factory=dict)
    unchanged: int = 0

    @property
    def count(self) -> int:
        """How many files may differ."""
        return len(self.jobs) + len(self.deleted)


def difference(
    root: Path, index: Reader | Writer, settings: Settings, seen: ScanResult | None = None
) -> Difference:
    """Walk the tree and compare it with what the index knows.

    Args:
        root: The tree.
        index: The index of the tree.
        settings: What is excluded.
        seen: The result of an earlier walk, of the whole tree or of a part; then the tree is not walked.
    """
    diff = Difference()
    # The name of the index stays, wherever it is copied: the ids of symbols depend on it.
    repo = index.meta().get("repo") or repo_identity(root)
    parts = _Parts(root, repo)
    stamps, skips = known_stamps(index, settings), known_skips(index, settings)
    refuse_another_root(index, root, lambda: _shares_files(root, sorted(stamps)))
    entries: Iterable[Entry] = seen.entries if seen else ()
    if seen is None:
        entries = walk(
            root,
            exclude=settings.exclude,
            include_secrets=settings.include_secrets,
            max_file_bytes=settings.max_file_bytes,
        )
    scope = _Scope(seen.paths if seen else None)
    missing = {key for key in stamps if scope.contains(key)}
    diff.unchanged = len(stamps) - len(missing)
    if not scope.is_whole_tree:
        diff.skipped = [each for each in index.skipped() if not scope.contains(each[0].rstrip("/"))]
        diff.skipped_stamps = {key: known for key, known in skips.items() if not scope.contains(key)}
    for entry in entries:
        key = escape_surrogates(entry.path)
        if isinstance(entry, SkippedFile):
            diff.skipped.append((key, entry.reason))
            continue
        missing.discard(key)
        stamp = (entry.size, entry.mtime_ns)
        known = stamps.get(key)
        is_suspect = seen is not None and entry.path in seen.changed
        if known is not None and (known.size, known.mtime_ns) == stamp and not is_suspect:
            diff.unchanged += 1
            continue
        if known is None and skips.get(key, ((), ""))[0] == stamp:
            diff.skipped.append((key, skips[key][1]))
            diff.skipped_stamps[key] = skips[key]
            continue
        from dowse.indexing.parse_jobs import Job  # most walks find no file that is new
        from dowse.source.roles import file_role

        job = Job(
            *(
                key,
                parts.name_of(entry.path),
                key,
                file_role(key) if not parts.is_copied(entry.path) else "vendored",
                os.fspath(root),
                entry.path,
                entry.size,
                entry.mtime_ns,
            ),
            known_hash=known.content_hash if known else "",
            strip_docs=settings.strip_docs,
            include_secrets=settings.include_secrets,
        )
        diff.jobs.append(job)
    diff.deleted = sorted(missing)
    return diff


class _Parts:
    """The names of the repositories in a tree: itself, its checked-out submodules, other nested ones."""

    def __init__(self, root: Path, name: str) -> None:
        self._root = root
        self._names = {"": name}  # by folder
        self._copied = {"": False}

    def name_of(self, path: str) -> str:
        """Return the name of the innermost repository that a file belongs to."""
        folder = path.rpartition("/")[0]
        if folder not in self._names:
            place = os.path.join(self._root, folder)
            is_part = os.path.lexists(os.path.join(place, ".git")) and git_directory(place) is not None
            self._names[folder] = repo_identity(place) if is_part else self.name_of(folder)
        return self._names[folder]

    def is_copied(self, path: str) -> bool:
        """Whether a file is in a copy of another project: a folder of `deps/` with a licence of its own."""
        folder = path.rpartition("/")[0]
        if folder not in self._copied:
            above = folder.rpartition("/")[0]
            holds_copies = above.rpartition("/")[2].lower() in _FOLDERS_OF_COPIES
            is_licensed = holds_copies and _has_licence(os.path.join(self._root, folder))
            self._copied[folder] = is_licensed or self.is_copied(folder)
        return self._copied[folder]


def _has_licence(folder: str) -> bool:
    with contextlib.suppress(OSError):
        return any(re.match(_LICENCE, name) for name in os.listdir(folder))
    return False


class _Scope:
    """The part of a tree that was walked."""

    def __init__(self, paths: frozenset[str] | None) -> None:
        self.is_whole_tree = paths is None
        self._paths = frozenset(escape_surrogates(path) for path in paths or ())

    def contains(self, key: str) -> bool:
        """Whether a file, or a folder above it, was walked."""
        if self.is_whole_tree or key in self._paths:
            return True
        slash = key.rfind("/")
        while slash > 0:
            if key[:slash] in self._paths:
                return True
            slash = key.rfind("/", 0, slash)
        return False


def refuse_another_root(index: Reader | Writer, root: Path, shares: Callable[[], bool]) -> None:
    """Raise if the index belongs to another root, which still exists and has no files in common with this.

    A tree that was copied or moved together with its index keeps it.
    """
    old = index.meta().get("root", "")
    if old in ("", escape_surrogates(str(root))):
        return
    try:
        is_same = Path(old).samefile(root)
    except OSError:  # it is gone
        return
    if is_same or shares():
        return
    raise DowseError(
        f"this index belongs to {old}, not to {root}; name another one with --index-dir, "
        "or remove it with `dowse clear`"
    )


def _shares_files(root: Path, keys: list[str]) -> bool:
    sample = keys[:: len(keys) // _SAMPLE + 1]
    # Most of them: a README alone is in every tree, and this one may be made to look like another.
    return 2 * sum(os.path.lexists(os.path.join(root, key)) for key in sample) >= len(sample)


def drop_unchanged(diff: Difference) -> Difference:
    """Read the files of a diff; drop those whose content the index has already, or would skip."""
    from dowse.indexing.hashes import content_hash
    from dowse.indexing.parse_jobs import GROWTH_BYTES
    from dowse.source.content import classify_content
    from dowse.source.secrets import secret_content_reason

    def is_same(job: Job) -> bool:
        try:
            data = read_below(job.root, job.file, job.size + GROWTH_BYTES)
        except OSError:
            return False
        if job.known_hash:
            return content_hash(data) == job.known_hash
        if classify_content(data, job.path).skip_reason:
            return True
        return not job.include_secrets and bool(secret_content_reason(data, job.path))

    jobs = [job for job in diff.jobs if not is_same(job)]
    return replace(diff, jobs=jobs, unchanged=diff.unchanged + len(diff.jobs) - len(jobs))


def known_stamps(index: Reader | Writer, settings: Settings) -> dict[str, FileFingerprint]:
    """Return the stamps of all files; untrusted ones if the index was made with other settings."""
    stamps, meta = index.fingerprints(), index.meta()
    # Secrets that were asked for and no longer are may be in any file: all are read again.
    keeps_secrets = meta.get("include_secrets") == "1" and not settings.include_secrets
    if meta.get("strip_docs", "0") == str(int(settings.strip_docs)) and not keeps_secrets:
        return stamps
    return {key: FileFingerprint(-1, 0, "") for key in stamps}


def known_skips(index: Reader | Writer, settings: Settings) -> SkippedStamps:
    """Return the files that were opened and found not worth indexing, or that crashed every parser."""
    entries = json.loads(index.meta().get("left_out", "{}"))
    return {
        key: ((size, mtime), reason)
        for key, (size, mtime, reason) in entries.items()
        if not (settings.include_secrets and is_secret_reason(reason))
    }
