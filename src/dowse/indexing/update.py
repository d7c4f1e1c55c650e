"""Bring an index up to date with a tree or a corpus: only what changed is read again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.config import Settings
from dowse.graph.link import link
from dowse.indexing.diff import LeftOut, difference, known_stamps, left_out_files, refuse_another_root
from dowse.indexing.hashes import corpus_hash
from dowse.indexing.parse_jobs import AnyJob, CorpusJob, Job
from dowse.indexing.parse_pool import parse_all
from dowse.security.terminal import escape_surrogates
from dowse.source.corpus import CorpusFunction, CorpusProblem, is_corpus, open_corpus
from dowse.source.git import head_commit, repo_identity
from dowse.storage.protocol import Backend, Writer
from dowse.types import FileRecord
from dowse.version import __version__

if TYPE_CHECKING:
    from dowse.source.tree_scanner import ScanResult

# Functions of a corpus that travel to a parsing process together.
_CORPUS_BATCH = 64
# A file saved this shortly before it was indexed may change again within the same clock tick; its
# time is not trusted, so the next update compares content.
_RACY_NS = 2_000_000_000
# Text after which a generation is committed although more is to come: a transaction that outgrows memory
# is slow, and a run that is cut short goes on from here.
_CHUNK = 200_000_000
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

    @property
    def wrote(self) -> bool:
        """Whether a new generation was made."""
        return bool(self.added or self.changed or self.deleted)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {**asdict(self), "failed": [{"path": path, "reason": reason} for path, reason in self.failed]}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an update is."""

    done: int
    total: int


def update(
    backend: Backend,
    root: Path,
    settings: Settings,
    *,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_wait: Callable[[str], None] = lambda _: None,
    wait: float | None = None,
    seen: ScanResult | None = None,
) -> Report:
    """Bring the index up to date and return what was done; `seen` spares the walk (`difference`)."""
    started = time.monotonic()
    with backend.writer(wait, on_wait) as writer:
        if is_corpus(root):
            report = _update_corpus(writer, root, settings, on_progress)
        else:
            report = _update_tree(writer, root, settings, on_progress, seen)
    return Report(
        *(report.generation, report.added, report.changed, report.deleted, report.unchanged),
        *(report.skipped, report.failed),
        seconds=time.monotonic() - started,
    )


def _update_tree(
    writer: Writer,
    root: Path,
    settings: Settings,
    on_progress: Callable[[Progress], None],
    seen: ScanResult | None,
) -> Report:
    diff = difference(root, writer, settings, seen)
    for key in diff.deleted:
        writer.delete(key)
    size = sum(job.size for job in diff.jobs)
    processes = 1 if size < _SMALL_BYTES else settings.processes
    tally = _Tally(writer, diff.skipped)
    waiting = 0
    for done, reply in enumerate(parse_all(diff.jobs, processes), 1):
        tally.take(reply.key, reply.records, reply.reason)
        on_progress(Progress(done, len(diff.jobs)))
        waiting += sum(len(record.text) for record in reply.records)
        if waiting > _CHUNK:
            writer.commit({**_description(writer, root, settings, {}), "complete": "0"})
            waiting = 0
    tally.finish({job.key: job for job in diff.jobs}, diff.left_out)
    wrote = tally.added or tally.changed or tally.dropped or diff.deleted
    left_out_changed = sorted(diff.skipped) != writer.skipped() or diff.left_out != left_out_files(
        writer, settings
    )
    generation = 0
    described_anew = left_out_changed or _is_described_otherwise(writer, settings)
    if wrote or tally.touched or described_anew or writer.meta().get("complete") != "1":
        writer.set_skipped(diff.skipped)
        link(writer.graph())
        generation = writer.commit(_description(writer, root, settings, diff.left_out))
    return Report(
        generation or int(writer.meta()["generation"]),
        tally.added,
        tally.changed,
        len(diff.deleted) + tally.dropped,
        diff.unchanged + tally.same,
        len(diff.skipped),
        tuple(tally.failed),
    )


class _Tally:
    """Puts replies into the store and counts them."""

    def __init__(self, writer: Writer, skipped: list[tuple[str, str]]) -> None:
        self._writer, self._stamps, self._skipped = writer, writer.stamps(), skipped
        self._same_keys: list[str] = []
        self._reasons: dict[str, str] = {}
        self.added = self.changed = self.dropped = self.same = self.touched = 0
        self.failed: list[tuple[str, str]] = []

    def take(self, key: str, records: tuple[FileRecord, ...], reason: str) -> None:
        """Store one reply."""
        for record in records:
            self._writer.put(_distrust_fresh(record))
            if record.problem:
                self.failed.append((key, record.problem))
            if record.key in self._stamps:
                self.changed += 1
            else:
                self.added += 1
        if records:
            return
        if not reason:
            self.same += 1
            self._same_keys.append(key)
            return
        self._skipped.append((key, reason))
        self._reasons[key] = reason
        if reason.startswith(("parser", "unreadable")):
            self.failed.append((key, reason))
        if key in self._stamps:
            self._writer.delete(key)
            self.dropped += 1

    def finish(self, jobs: dict[str, Job], left_out: LeftOut) -> None:
        """Remember the new times of files whose content is the same, and of those left out."""
        for key in self._same_keys:
            job = jobs[key]
            if not _is_fresh(job.mtime_ns):
                self._writer.touch(key, job.size, job.mtime_ns)
                self.touched += 1
        for key, reason in self._reasons.items():
            job = jobs[key]
            if not _is_fresh(job.mtime_ns) and not reason.startswith("unreadable"):
                left_out[key] = ((job.size, job.mtime_ns), reason)


def _update_corpus(
    writer: Writer, root: Path, settings: Settings, on_progress: Callable[[Progress], None]
) -> Report:
    problems: dict[str, str] = {}
    known = {key: stamp.content_hash for key, stamp in known_stamps(writer, settings).items()}
    fresh, present = _changed_functions(_functions(root, problems), known, problems)
    refuse_another_root(writer, root, lambda: not known or not present.isdisjoint(known))
    deleted = sorted(set(known) - present)
    for key in deleted:
        writer.delete(key)
    skipped = list(problems.items())
    tally = _Tally(writer, skipped)
    done = 0
    for reply in parse_all(_corpus_jobs(fresh, settings.strip_docs), settings.processes):
        tally.take(reply.key, reply.records, reply.reason)
        done += max(1, len(reply.records))
        on_progress(Progress(done, len(fresh)))
    wrote = tally.added or tally.changed or tally.dropped or deleted
    generation = int(writer.meta()["generation"])
    described_anew = sorted(skipped) != writer.skipped() or _is_described_otherwise(writer, settings)
    if wrote or described_anew or not writer.meta().get("root"):
        writer.set_skipped(skipped)
        generation = writer.commit(_description(writer, root, settings, {}))
    return Report(
        *(generation, tally.added, tally.changed, len(deleted) + tally.dropped, len(present) - len(fresh)),
        skipped=len(skipped),
        failed=tuple(tally.failed),
    )


def _functions(root: Path, problems: dict[str, str]) -> Iterator[CorpusFunction]:
    """Give the functions of a corpus; note the lines that hold none."""
    for entry in open_corpus(root):
        if isinstance(entry, CorpusProblem):
            problems[f"{Path(entry.file).name}:{entry.line}"] = entry.reason
        else:
            yield entry


def _changed_functions(
    functions: Iterable[CorpusFunction], known: dict[str, str], problems: dict[str, str]
) -> tuple[list[CorpusFunction], set[str]]:
    """Return the functions that are new or changed, and the ids of all; the last of equal ids wins."""
    fresh: dict[str, CorpusFunction] = {}
    present: set[str] = set()
    for function in functions:
        if function.id in present:
            problems[f"id {function.id}"] = "several functions have this id; the last one is indexed"
        present.add(function.id)
        fresh.pop(function.id, None)
        if known.get(function.id) != corpus_hash(function):
            fresh[function.id] = function
    return list(fresh.values()), present


def _corpus_jobs(functions: list[CorpusFunction], strip_docs: bool) -> Iterator[AnyJob]:
    for start in range(0, len(functions), _CORPUS_BATCH):
        batch = tuple(functions[start : start + _CORPUS_BATCH])
        yield CorpusJob(batch[0].id, batch, strip_docs)


def _description(writer: Writer, root: Path, settings: Settings, left_out: LeftOut) -> dict[str, str]:
    """Return what the index says of itself."""
    facts = {
        "root": str(root),
        "repo": writer.meta().get("repo") or repo_identity(root),
        "commit": head_commit(root),
        "indexed_at": str(int(time.time())),
        "complete": "1",
        "corpus": str(int(is_corpus(root))),
        "strip_docs": str(int(settings.strip_docs)),
        "exclude": "\n".join(settings.exclude),
        "include_secrets": str(int(settings.include_secrets)),
        "tree_dimension": str(settings.tree_dimension),
        "left_out": json.dumps({key: [*stamp, reason] for key, (stamp, reason) in left_out.items()}),
        "dowse": __version__,
    }
    return {name: escape_surrogates(value) for name, value in facts.items()}


def _is_described_otherwise(writer: Writer, settings: Settings) -> bool:
    """Whether the last generation says of itself what these settings change."""
    meta = writer.meta()
    known = (meta.get("tree_dimension"), meta.get("include_secrets", "0"))
    return known != (str(settings.tree_dimension), str(int(settings.include_secrets)))


def _distrust_fresh(record: FileRecord) -> FileRecord:
    return record._replace(mtime_ns=0) if _is_fresh(record.mtime_ns) else record


def _is_fresh(mtime_ns: int) -> bool:
    return abs(time.time_ns() - mtime_ns) < _RACY_NS
