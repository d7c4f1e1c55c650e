"""What lies between a tree and its index (light to load: searches ask this first)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.config import Settings
from dowse.errors import DowseError
from dowse.indexing.parse_jobs import GROWTH_BYTES, Job
from dowse.security.safe_files import read_regular_file
from dowse.security.terminal import escape_surrogates
from dowse.source.git import repo_identity
from dowse.source.secrets import is_secret_reason
from dowse.source.walk import SkippedFile, walk
from dowse.types import FileStamp

if TYPE_CHECKING:
    from dowse.source.tree_scanner import Entry, ScanResult
    from dowse.storage.protocol import Reader, Writer

# Size and time of files that are left out for what is in them, and why: they are not opened again.
LeftOut = dict[str, tuple[tuple[int, int], str]]
# So many files of an index are looked for in a tree that it was not made from.
_SAMPLE = 50


@dataclass(slots=True)
class Difference:
    """What lies between the tree and the index."""

    jobs: list[Job] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=dict)
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
        index: What is known of it.
        settings: What is left out.
        seen: What somebody has found there already, of the whole tree or of a part; then that is taken.
    """
    found = Difference()
    # What the index is called stays, wherever it is copied: the ids of symbols hang on it.
    repo = index.meta().get("repo") or repo_identity(root)
    stamps, left_out = known_stamps(index, settings), left_out_files(index, settings)
    refuse_another_root(index, root, lambda: _shares_files(root, sorted(stamps)))
    entries: Iterable[Entry] = seen.entries if seen else ()
    if seen is None:
        entries = walk(
            root,
            exclude=settings.exclude,
            include_secrets=settings.include_secrets,
            max_file_bytes=settings.max_file_bytes,
        )
    part = _Part(seen.paths if seen else None)
    missing = {key for key in stamps if part.holds(key)}
    found.unchanged = len(stamps) - len(missing)
    if not part.is_all:
        found.skipped = [(key, reason) for key, reason in index.skipped() if not part.holds(key.rstrip("/"))]
        found.left_out = {key: known for key, known in left_out.items() if not part.holds(key)}
    for entry in entries:
        key = _printable(entry.path)
        if isinstance(entry, SkippedFile):
            found.skipped.append((key, entry.reason))
            continue
        missing.discard(key)
        stamp = (entry.size, entry.mtime_ns)
        known = stamps.get(key)
        is_suspect = seen is not None and entry.path in seen.changed
        if known is not None and (known.size, known.mtime_ns) == stamp and not is_suspect:
            found.unchanged += 1
            continue
        if known is None and left_out.get(key, ((), ""))[0] == stamp:
            found.skipped.append((key, left_out[key][1]))
            found.left_out[key] = left_out[key]
            continue
        from dowse.source.roles import file_role  # its patterns take a while to compile; most walks need none

        job = Job(
            *(key, repo, key, file_role(key), os.path.join(root, entry.path), entry.size, entry.mtime_ns),
            known_hash=known.content_hash if known else "",
            strip_docs=settings.strip_docs,
            include_secrets=settings.include_secrets,
        )
        found.jobs.append(job)
    found.deleted = sorted(missing)
    return found


class _Part:
    """The part of a tree that was looked at."""

    def __init__(self, paths: frozenset[str] | None) -> None:
        self.is_all = paths is None
        self._paths = frozenset(_printable(path) for path in paths or ())

    def holds(self, key: str) -> bool:
        """Whether a file, or a folder above it, was looked at."""
        if self.is_all or key in self._paths:
            return True
        slash = key.rfind("/")
        while slash > 0:
            if key[:slash] in self._paths:
                return True
            slash = key.rfind("/", 0, slash)
        return False


def refuse_another_root(index: Reader | Writer, root: Path, shares: Callable[[], bool]) -> None:
    """Raise if the index is that of another place, which is still there and has nothing in common with this.

    A place that was copied or moved together with its index keeps it.
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


def without_same(found: Difference) -> Difference:
    """Leave out the files that have the content which the index knows, or one that it would leave out."""
    from dowse.indexing.hashes import content_hash
    from dowse.source.content import classify_content
    from dowse.source.secrets import secret_content_reason

    def is_same(job: Job) -> bool:
        try:
            data = read_regular_file(job.file, job.size + GROWTH_BYTES)
        except OSError:
            return False
        if job.known_hash:
            return content_hash(data) == job.known_hash
        if classify_content(data, job.path).skip_reason:
            return True
        return not job.include_secrets and bool(secret_content_reason(data, job.path))

    jobs = [job for job in found.jobs if not is_same(job)]
    return replace(found, jobs=jobs, unchanged=found.unchanged + len(found.jobs) - len(jobs))


def known_stamps(index: Reader | Writer, settings: Settings) -> dict[str, FileStamp]:
    """Return what the index knows of every file; nothing it could trust if it was made in another way."""
    stamps, meta = index.stamps(), index.meta()
    # Secrets that were asked for and no longer are may be in any file: all are read again.
    keeps_secrets = meta.get("include_secrets") == "1" and not settings.include_secrets
    if meta.get("strip_docs", "0") == str(int(settings.strip_docs)) and not keeps_secrets:
        return stamps
    return {key: FileStamp(-1, 0, "") for key in stamps}


def left_out_files(index: Reader | Writer, settings: Settings) -> LeftOut:
    """Return the files that were opened and found not worth indexing, or that no parser survived."""
    entries = json.loads(index.meta().get("left_out", "{}"))
    return {
        key: ((size, mtime), reason)
        for key, (size, mtime, reason) in entries.items()
        if not (settings.include_secrets and is_secret_reason(reason))
    }


def _printable(path: str) -> str:
    """Return a path that can be stored and shown; bytes that are no text become escapes."""
    return escape_surrogates(path)
