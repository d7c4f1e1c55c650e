"""The incremental update of an index: only files that changed are read again, and committed atomically."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.config import Settings
from dowse.graph.link import link
from dowse.indexing.deferred import complete_deferred_files
from dowse.indexing.diff import (
    SkippedStamps,
    difference,
    known_skips,
    known_stamps,
    refuse_another_root,
)
from dowse.indexing.hashes import corpus_hash
from dowse.indexing.likely_files import likely_files
from dowse.indexing.link_pool import resolve_in_processes
from dowse.indexing.memory_budget import COMMIT_BYTES
from dowse.indexing.parse_jobs import AnyJob, CorpusJob, Job, Reply
from dowse.indexing.parse_pool import keep_idle_workers, parse_all
from dowse.lazy_classes import asdict, dataclass, replace
from dowse.security.terminal import escape_surrogates
from dowse.source.corpus import CorpusFunction, CorpusProblem, corpus_stamp, is_corpus, open_corpus
from dowse.source.git import head_commit, repo_identity
from dowse.storage.protocol import Backend, Writer
from dowse.version import __version__

if TYPE_CHECKING:
    from dowse.indexing.embed import EmbedReport
    from dowse.source.tree_scanner import ScanResult

# Functions of a corpus that are sent to a parser process together.
_CORPUS_BATCH = 64
# A file saved this shortly before it was indexed may change again within the same clock tick (git calls that
# "racily clean"); its time is not trusted, so the next update compares content.
_RACY_NS = 2_000_000_000
# Parsing this little is quicker than starting a second process.
_SMALL_BYTES = 300_000


@dataclass(frozen=True, slots=True)
class Report:
    """What an update did."""

    generation: int
    added: int = 0
    changed: int = 0
    deleted: int = 0
    unchanged: int = 0
    skipped: int = 0
    failed: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0
    embedding: EmbedReport | None = None  # None if nothing was to be embedded

    @property
    def wrote(self) -> bool:
        """Whether a new generation was made."""
        return bool(self.added or self.changed or self.deleted)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {**asdict(self), "failed": [{"path": path, "reason": reason} for path, reason in self.failed]}


@dataclass(frozen=True, slots=True)
class Progress:
    """How much of a task is done."""

    done: int
    total: int
    unit: str = "files"  # or "symbols", "commits"


def update(
    backend: Backend,
    root: Path,
    settings: Settings,
    *,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_wait: Callable[[str], None] = lambda _: None,
    wait: float | None = None,
    seen: ScanResult | None = None,
    defer_graph: bool = False,
    question: str = "",
) -> Report:
    """Update the index incrementally and report what was done.

    Args:
        backend: Where the index is.
        root: The tree or corpus.
        settings: What is indexed, and how.
        on_progress: Called after every file.
        on_wait: Called once with a message if another writer holds the index.
        wait: Seconds to wait for that one; None waits as long as it takes.
        seen: The result of an earlier walk, which spares another (`difference`).
        defer_graph: Whether `link_deferred` is to build the call graph, where that takes long.
        question: What waits for the first answer: a large tree that is new gives the files that it is likely
            about, and another update reads the others.
    """
    started = time.monotonic()
    with backend.writer(wait, on_wait) as writer:
        if is_corpus(root):
            report = _update_corpus(writer, root, settings, on_progress)
        else:
            with keep_idle_workers(settings.processes):  # those that parse link as well
                report = _update_tree(writer, root, settings, on_progress, seen, defer_graph, question)
    return replace(report, seconds=time.monotonic() - started)


def link_deferred(backend: Backend, settings: Settings, wait: float | None = None) -> None:
    """Build the call graph that an update deferred, or did not live to build."""
    with backend.writer(wait) as writer:
        if not _is_linked(writer):
            with keep_idle_workers(settings.processes):
                _link_and_commit(writer, settings.processes, {"linked": "1"})


def _update_tree(
    writer: Writer,
    root: Path,
    settings: Settings,
    on_progress: Callable[[Progress], None],
    seen: ScanResult | None,
    defer_graph: bool,
    question: str,
) -> Report:
    diff, catalog = difference(root, writer, settings, seen), writer.share_graph()
    for key in diff.deleted:
        writer.delete(key)
    size = sum(job.size for job in diff.jobs)
    processes = 1 if size < _SMALL_BYTES else settings.processes
    # Words first, if someone waits for them: they answer most questions. Files are then parsed twice, as one
    # process can't keep the trees of another. Stripped documentation may declare types.
    is_new = writer.meta()["generation"] == "0" and processes > 1 and not settings.backend
    is_deferred = is_new and defer_graph and not settings.strip_docs
    chosen = likely_files(diff.jobs, question) if is_deferred and question else diff.jobs
    jobs = (job._replace(is_deferred=is_deferred) for job in chosen)
    results = _Results(writer, diff.skipped)
    uncommitted = 0
    replies = parse_all(jobs, processes, root=root, catalog=catalog)
    for done, reply in enumerate(replies, 1):
        results.store(reply)
        on_progress(Progress(done, len(chosen)))
        uncommitted += sum(record.size for record in reply.records)
        if uncommitted > COMMIT_BYTES:
            _commit_part(writer, root, settings)
            uncommitted = 0
    if len(chosen) < len(diff.jobs):
        return results.report(_commit_part(writer, root, settings), 0, 0)
    results.remember_stamps(diff.jobs, diff.skipped_stamps)
    diff.jobs.clear()  # much memory in a large tree, and linking needs some
    skips_changed = sorted(diff.skipped) != writer.skipped() or diff.skipped_stamps != known_skips(
        writer, settings
    )
    generation = int(writer.meta()["generation"])
    has_changes = bool(results.wrote or results.touched or diff.deleted or skips_changed)
    is_unfinished = not _is_complete(writer) or not (_is_linked(writer) or defer_graph)
    if has_changes or _settings_changed(writer, settings) or is_unfinished:
        writer.set_skipped(diff.skipped)
        meta = _metadata(writer, root, settings, diff.skipped_stamps)
        is_slow = not settings.backend and (processes > 1 or not _is_linked(writer))
        if is_slow:
            generation = writer.commit({**meta, "linked": "0"})
        if not (is_slow and defer_graph):
            generation = _link_and_commit(writer, processes, meta)
    return results.report(generation, len(diff.deleted), diff.unchanged + results.unchanged)


def _commit_part(writer: Writer, root: Path, settings: Settings) -> int:
    """Commit the files that were read, of which searches say that they are not all."""
    return writer.commit({**_metadata(writer, root, settings, {}), "complete": "0", "linked": "0"})


def _link_and_commit(writer: Writer, processes: int, meta: dict[str, str]) -> int:
    """Link the files that need it, and commit the call graph as a generation."""
    if not _is_linked(writer):
        complete_deferred_files(writer, processes)
    if link(writer.graph(), partial(resolve_in_processes, writer, processes) if processes > 1 else None):
        writer.begin_generation()
    return writer.commit(meta)


def _update_corpus(
    writer: Writer,
    root: Path,
    settings: Settings,
    on_progress: Callable[[Progress], None],
) -> Report:
    stamps = known_stamps(writer, settings)
    corpus = _corpus_digest(root, settings)
    if corpus and corpus == writer.meta().get("corpus_files"):
        return Report(int(writer.meta()["generation"]), unchanged=len(stamps), skipped=len(writer.skipped()))
    problems: dict[str, str] = {}
    known = {key: stamp.content_hash for key, stamp in stamps.items()}
    changed, present = _changed_functions(_functions(root, problems), known, problems)
    refuse_another_root(writer, root, lambda: not known or not present.isdisjoint(known))
    deleted = sorted(set(known) - present)
    for key in deleted:
        writer.delete(key)
    skipped = list(problems.items())
    results = _Results(writer, skipped)
    done = 0
    jobs = _corpus_jobs(changed, settings.strip_docs)
    for reply in parse_all(jobs, settings.processes):
        results.store(reply)
        done += max(1, len(reply.records))
        on_progress(Progress(done, len(changed)))
    generation = int(writer.meta()["generation"])
    has_changes = bool(results.wrote or deleted or sorted(skipped) != writer.skipped())
    if has_changes or _settings_changed(writer, settings) or not writer.meta().get("root"):
        writer.set_skipped(skipped)
        generation = writer.commit({**_metadata(writer, root, settings, {}), "corpus_files": corpus})
    return results.report(generation, len(deleted), len(present) - len(changed))


def _corpus_digest(root: Path, settings: Settings) -> str:
    """Return a digest of a corpus's files and the settings that matter; "" if one was changed just now."""
    try:
        stamp, newest = corpus_stamp(root)
    except OSError:
        return ""
    if _is_racy(newest):
        return ""
    kept = (stamp, settings.strip_docs, settings.include_secrets)
    return hashlib.sha256(repr(kept).encode("utf-8", "surrogatepass")).hexdigest()


class _Results:
    """Writes the parser's replies to the store and counts them."""

    def __init__(self, writer: Writer, skipped: list[tuple[str, str]]) -> None:
        self._writer, self._stamps, self._skipped = writer, writer.fingerprints(), skipped
        self._without_records: list[Reply] = []
        self.added = self.changed = self.dropped = self.unchanged = self.touched = 0
        self.failed: list[tuple[str, str]] = []

    @property
    def wrote(self) -> bool:
        """Whether files of the index have changed."""
        return bool(self.added or self.changed or self.dropped)

    def store(self, reply: Reply) -> None:
        """Write the records of one reply; drop a file that has none any more."""
        for record in reply.records:
            self._writer.put(record._replace(mtime_ns=0) if _is_racy(record.mtime_ns) else record)
            if record.problem:
                self.failed.append((reply.key, record.problem))
            if record.key in self._stamps:
                self.changed += 1
            else:
                self.added += 1
        if reply.status == "parsed":
            return
        self._without_records.append(reply)
        if reply.status == "unchanged":
            self.unchanged += 1
            return
        self._skipped.append((reply.key, reply.reason))
        if reply.status in ("crashed", "unreadable"):
            self.failed.append((reply.key, reply.reason))
        if reply.key in self._stamps:
            self._writer.delete(reply.key)
            self.dropped += 1

    def remember_stamps(self, jobs: Iterable[Job], skipped_stamps: SkippedStamps) -> None:
        """Remember size and time of files that are unchanged or skipped, so that they are not read again."""
        known = {reply.key for reply in self._without_records}
        jobs_by_key = {job.key: job for job in jobs if job.key in known}
        for reply in self._without_records:
            job = jobs_by_key[reply.key]
            if _is_racy(job.mtime_ns):
                continue
            if reply.status == "unchanged":
                self._writer.touch(reply.key, job.size, job.mtime_ns)
                self.touched += 1
            elif reply.status != "unreadable":
                skipped_stamps[reply.key] = ((job.size, job.mtime_ns), reply.reason)

    def report(self, generation: int, deleted: int, unchanged: int) -> Report:
        """Return what was done."""
        return Report(
            generation,
            added=self.added,
            changed=self.changed,
            deleted=deleted + self.dropped,
            unchanged=unchanged,
            skipped=len(self._skipped),
            failed=tuple(self.failed),
        )


def _functions(root: Path, problems: dict[str, str]) -> Iterator[CorpusFunction]:
    """Give the functions of a corpus; record the lines that hold none."""
    for entry in open_corpus(root):
        if isinstance(entry, CorpusProblem):
            problems[f"{Path(entry.file).name}:{entry.line}"] = entry.reason
        else:
            yield entry


def _changed_functions(
    functions: Iterable[CorpusFunction], known: dict[str, str], problems: dict[str, str]
) -> tuple[list[CorpusFunction], set[str]]:
    """Return the functions that are new or changed, and the ids of all; the last of equal ids wins."""
    changed: dict[str, CorpusFunction] = {}
    present: set[str] = set()
    for function in functions:
        if function.id in present:
            problems[f"id {function.id}"] = "several functions have this id; the last one is indexed"
        present.add(function.id)
        changed.pop(function.id, None)
        if known.get(function.id) != corpus_hash(function):
            changed[function.id] = function
    return list(changed.values()), present


def _corpus_jobs(functions: list[CorpusFunction], strip_docs: bool) -> Iterator[AnyJob]:
    for start in range(0, len(functions), _CORPUS_BATCH):
        batch = tuple(functions[start : start + _CORPUS_BATCH])
        yield CorpusJob(batch[0].id, batch, strip_docs)


def _metadata(
    writer: Writer, root: Path, settings: Settings, skipped_stamps: SkippedStamps
) -> dict[str, str]:
    facts = {
        "root": str(root),
        "repo": writer.meta().get("repo") or repo_identity(root),
        "commit": head_commit(root),
        "indexed_at": str(int(time.time())),
        "complete": "1",
        "linked": "1",
        "corpus": str(int(is_corpus(root))),
        "strip_docs": str(int(settings.strip_docs)),
        "exclude": "\n".join(settings.exclude),
        "include_secrets": str(int(settings.include_secrets)),
        "left_out": json.dumps({key: [*stamp, reason] for key, (stamp, reason) in skipped_stamps.items()}),
        "dowse": __version__,
    }
    return {name: escape_surrogates(value) for name, value in facts.items()}


def _settings_changed(writer: Writer, settings: Settings) -> bool:
    """Whether the metadata of the last generation differs from these settings."""
    return writer.meta().get("include_secrets", "0") != str(int(settings.include_secrets))


def _is_complete(writer: Writer) -> bool:
    return writer.meta().get("complete") == "1"


def _is_linked(writer: Writer) -> bool:
    return writer.meta().get("linked", "1") == "1"


def _is_racy(mtime_ns: int) -> bool:
    return abs(time.time_ns() - mtime_ns) < _RACY_NS
