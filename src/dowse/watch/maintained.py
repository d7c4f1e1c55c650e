"""One index of the worker: what is to be done with it, and how."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from dowse.errors import DowseError, IndexLocked
from dowse.index import REFRESH_FILES, Index
from dowse.indexing.update import Progress
from dowse.lazy_classes import dataclass, field, replace
from dowse.runtime_paths import digest, runtime_folder
from dowse.source.git import git_directory
from dowse.source.tree_scanner import ScanResult, TreeScanner
from dowse.storage.open import open_backend
from dowse.vectors.embedding_progress import EmbeddingFolder, EmbeddingProgress
from dowse.watch.messages import TASKS, Request, Task
from dowse.watch.sources import (
    GIT_EXCLUDE,
    ChangeSource,
    FileChanges,
    PollingSource,
    WatchLimitReached,
)
from dowse.workers.child import EventReporter
from dowse.workers.power import is_on_battery
from dowse.write_lock import write_lock

# Debounce: a batch ends when nothing has happened for so long, or at the latest after so long.
DEBOUNCE_SECONDS, BATCH_SECONDS = 0.05, 0.5
# While git changes files itself, a batch waits for it; a lock older than this was left by a killed git.
GIT_SECONDS, _STALE_LOCK_SECONDS = 10.0, 60.0
# From so many changed paths on, a scan is quicker than a look at each.
SCAN_PATHS = 300
# So long after the last change a scan verifies that nothing was missed.
VERIFY_SECONDS = 30.0
# After a failure, the next attempt is made after so long; where another process has a lock, sooner.
RETRY_SECONDS, _LOCKED_SECONDS = 5.0, 2.0
# How long to wait for another process before other indexes have their turn.
_LOCK_SECONDS = 1.0
# Symbols that are encoded before anything else can be done: about a second of work at low priority.
_CHUNK = 128
# How often to look whether the machine runs on battery.
POWER_SECONDS = 30.0
# While it learns: how often to look whether that is to end.
_LEARNING_SECONDS = 0.1


@dataclass(slots=True)
class PendingChanges:
    """Changes that are not in the index yet, coalesced."""

    changes: FileChanges = field(default_factory=FileChanges)
    first: float = 0.0
    last: float = 0.0

    def add(self, changes: FileChanges, now: float) -> None:
        """Merge more changes."""
        if not changes:
            return
        if not self.changes:
            self.first = now
        self.last = now
        self.changes.paths |= changes.paths
        self.changes.needs_scan |= changes.needs_scan


class MaintainedIndex:
    """Keeps one index up to date until it is finished, or for ever if it is watched."""

    def __init__(self, request: Request, reporter: EventReporter, is_interrupted: Callable[[], bool]) -> None:
        root = request.root
        self._index = Index(root, request.settings, open_backend(request.address, root))
        self._key, self.number, self._reporter = request.key, request.number, reporter
        self._poll = "as asked" if request.poll else ""  # why changes are found by polling
        self._is_interrupted = is_interrupted
        self._task: Task | None = request.task
        self._is_watched = request.task == "watch"
        self._locks = contextlib.ExitStack()
        self._pending = PendingChanges()
        self._source: ChangeSource | None = None
        self._scanner = TreeScanner(root)
        self._rules: tuple[tuple[str, ...], bool] = ((), False)
        self._generation = 0  # the last that was reported
        self._git = git_directory(str(root))
        self._embedding: EmbeddingFolder | None = None
        self._embedding_started, self._embedding_lock = 0.0, contextlib.ExitStack()
        self._to_link = self._to_embed = self._to_learn = self._to_fit = False
        self._power_asked = -POWER_SECONDS
        self._learner: threading.Thread | None = None
        self._retry_at, self._embed_at, self._verify_at = 0.0, 0.0, float("inf")
        self.is_finished = False

    def request(self, request: Request) -> None:
        """Do something more with it; a request may arrive twice."""
        if request.number <= self.number:
            return
        self.number = request.number
        self._is_watched |= request.task == "watch"
        if self._task is None or TASKS.index(request.task) > TASKS.index(self._task):
            self._task = request.task

    @property
    def handle(self) -> int:
        """The descriptor that is readable when files have changed; -1 if there is none."""
        return -1 if self._source is None else self._source.handle

    def due(self) -> float:
        """Return when there is something to do, by the monotonic clock."""
        now = time.monotonic()
        if self._retry_at > now:
            return self._retry_at
        if self._task or ((self._to_link or self._to_embed) and self._embed_at <= now):
            return now
        if self._pending.changes:
            return self._flush_time()
        if self._learner is not None:
            return now + _LEARNING_SECONDS
        if self._to_embed:
            return min(self._embed_at, self._source.due() if self._source else self._embed_at)
        return min(self._verify_at, self._source.due()) if self._source and not self._to_learn else now

    def has_changes(self) -> bool:
        """Whether files have changed that are not in the index."""
        now = time.monotonic()
        if self._source is None or self._retry_at > now:
            return False
        self._pending.add(self._source.read(), now)
        return bool(self._pending.changes)

    def close(self) -> None:
        """Close all files; what was committed stays."""
        self._end_embedding()
        if self._source is not None:
            self._source.close()
        self._locks.close()
        self._index.close()

    def step(self) -> None:
        """Do what is requested, and index the files that have changed."""
        self._guarded(self._step)

    def work_on(self) -> bool:
        """Do a piece of what can wait until the files are indexed; returns whether there was something."""
        if self._retry_at > time.monotonic() or self._pending.changes or self._task:
            return False
        if self._learner is not None and not self._learner.is_alive():
            self._learner = None
        if self._to_link or self._to_embed:
            if self._embed_at > time.monotonic():
                return False
            self._guarded(self._embed)
        elif self._verify_at <= time.monotonic():
            self._guarded(self._verify)
        elif self._to_learn and self._learner is None:
            self._guarded(self._start_learning)
        else:
            self.is_finished = not self._is_watched and self._learner is None
            return False
        return True

    def _guarded(self, work: Callable[[], None]) -> None:
        """Work; after a failure a watched index is tried again, any other is given up."""
        if self._retry_at > time.monotonic():
            return
        try:
            work()
        except WatchLimitReached as error:
            self._poll, self._task = str(error), "watch"
        except IndexLocked as error:
            self._reporter.event("waiting", key=self._key, detail=str(error))
            self._retry(_LOCKED_SECONDS)
        except (DowseError, OSError) as error:
            self._end_embedding()
            again = f"; trying again in {RETRY_SECONDS:.0f} s" if self._is_watched else ""
            self._reporter.event("failed", key=self._key, detail=f"{error}{again}")
            self.is_finished = not self._is_watched
            self._retry(RETRY_SECONDS)

    def _retry(self, seconds: float) -> None:
        """Begin from the start after so long."""
        self._retry_at = time.monotonic() + seconds
        if self._is_watched:
            self._task = "watch"

    def _step(self) -> None:
        if self._task is not None:
            self._begin_task(self._task)
        if self._source is None:
            return
        now = time.monotonic()
        self._pending.add(self._source.read(), now)
        if self._pending.changes and now >= self._flush_time():
            self._flush()

    def _begin_task(self, task: Task) -> None:
        """Do what is requested: all but what `work_on` does bit by bit."""
        if task == "watch":
            self._take_watch_lock()
            self._begin()
        elif self._is_to_update(task):
            self._reporter.event("begun", key=self._key)
            self._update(None, rebuild=task == "rebuild")
        self._task = None
        self._to_link, self._to_learn = True, True
        self._to_embed = self._index.settings.encoder != "none"

    def _is_to_update(self, task: Task) -> bool:
        """Whether files are to be read: a search may have left most of a large tree."""
        if task == "finish":
            return self._index.exists and not self._index.contents.is_complete
        return task != "check" or self._has_changed()

    def _take_watch_lock(self) -> None:
        """Hold the lock of the index's one watcher; raises IndexLocked while another process has it."""
        place = Path(runtime_folder(), f"{digest(self._index.backend.address)}.watch")
        self._locks.close()
        try:
            self._locks.enter_context(write_lock(place, 0.0, lambda _: None))
        except IndexLocked:
            raise IndexLocked("another dowse watches this index; waiting until it ends") from None

    def _begin(self) -> None:
        """Watch first, then scan: what happens in between is seen twice, which does no harm."""
        if self._source is not None:
            self._source.close()
            self._source = None
        self._pending = PendingChanges()
        self._source = self._open_source()
        self._scan()
        self._load_encoder()
        self._reporter.event("watching", key=self._key, detail=self._source.description)

    def _open_source(self) -> ChangeSource:
        """Return the source of file changes that fits this system."""
        if self._poll or not sys.platform.startswith("linux"):
            return PollingSource(self._poll or "this system has no inotify")
        from dowse.watch.inotify import InotifySource

        return InotifySource(self._index.root)

    def _load_encoder(self) -> None:
        """Load the encoder before the first file is saved."""
        if self._index.encoder is not None:
            from dowse.encoders.document import Document

            warm = Document("", "warm", "", "def warm(): pass", "python", "warm.py")
            self._index.encoder.encode_documents([warm])

    def _has_changed(self) -> bool:
        """Whether files differ from the index, as far as that is quick to find out."""
        try:
            index = self._index.internals.as_built()
            if index.settings.refresh == "auto" and index.contents.file_count() > REFRESH_FILES:
                return False
            return bool(index.contents.changes().count)
        except DowseError:
            return True

    def _flush_time(self) -> float:
        """Return when the pending changes are to be indexed."""
        if self._git_is_busy():
            return min(time.monotonic() + DEBOUNCE_SECONDS, self._pending.first + GIT_SECONDS)
        return min(self._pending.last + DEBOUNCE_SECONDS, self._pending.first + BATCH_SECONDS)

    def _git_is_busy(self) -> bool:
        if self._git is None:
            return False
        try:
            return time.time() - Path(self._git, "index.lock").stat().st_mtime < _STALE_LOCK_SECONDS
        except OSError:
            return False

    def _flush(self) -> None:
        """Update the index with the pending changes."""
        changes, self._pending = self._pending.changes, PendingChanges()
        switched = bool(changes.paths & {".git/HEAD", GIT_EXCLUDE})
        paths = {path for path in changes.paths if not path.startswith(".git/")}
        seen = None
        if not changes.needs_scan and not switched and len(paths) <= SCAN_PATHS and self._rules_hold():
            seen = self._scanner.rescan(paths)
        if seen is not None and not seen.paths:
            return  # ignored, or created and deleted
        wrote = self._scan(paths) if seen is None else self._update(seen)
        if wrote or paths:
            self._verify_at = time.monotonic() + VERIFY_SECONDS

    def _rules_hold(self) -> bool:
        """Whether the index exists, and excludes what it did at the last scan: others may write it."""
        return self._index.exists and _rules(self._as_built()) == self._rules

    def _scan(self, suspects: Iterable[str] = ()) -> bool:
        built = self._as_built()
        self._rules = exclude, include_secrets = _rules(built)
        assert self._source is not None  # noqa: S101 - `_begin` has opened it
        self._scanner = TreeScanner(
            *(built.root, exclude, built.settings.max_file_bytes, self._source.add),
            include_secrets=include_secrets,
        )
        return self._update(self._scanner.scan(suspects))

    def _update(self, seen: ScanResult | None, *, rebuild: bool = False) -> bool:
        """Update the index incrementally; return whether that made a new generation."""
        is_first = rebuild or not self._index.exists or not self._index.contents.is_complete
        self._to_link = self._to_link or is_first
        report = (self._index if rebuild else self._as_built()).update(
            embed=False,
            rebuild=rebuild,
            seen=seen,
            defer_graph=is_first,  # searches wait for words
            wait=_LOCK_SECONDS,
            on_progress=self._reporter.progress("index", key=self._key),
            on_wait=lambda text: self._reporter.event("waiting", key=self._key, detail=text),
        )
        is_new = report.generation != self._generation
        self._generation = report.generation
        if is_new or seen is None:
            counts = {name: getattr(report, name) for name in ("added", "changed", "deleted")}
            seconds, generation = report.seconds, report.generation
            self._reporter.event("indexed", key=self._key, seconds=seconds, generation=generation, **counts)
            self._to_embed = self._to_fit = self._index.settings.encoder != "none"
        return is_new

    def _verify(self) -> None:
        """Scan, so that nothing is missed, and fit what `related` needs to the new vectors."""
        self._verify_at = float("inf")
        self._scan()
        if self._to_fit and not self._to_embed:
            self._to_fit = False
            self._index.vectors.embed(wait=_LOCK_SECONDS)

    def _embed(self) -> None:
        """Build the call graph and encode symbols without a vector, until changes come in between."""
        if self._to_link and not self._index.graph.is_linked:
            if self._to_embed:
                self._index.vectors.embed_approximately()  # takes seconds, the graph of a large tree minutes
            self._index.graph.link(wait=_LOCK_SECONDS)
        self._to_link = False
        if not self._to_embed:
            return
        self._begin_embedding()
        if self._is_put_off():
            return
        report = self._index.vectors.embed(
            chunk=_CHUNK,
            finish=not self._is_watched,
            wait=_LOCK_SECONDS,
            pause=lambda: self._is_interrupted() or self._is_taken_over() or self._is_put_off(),
            on_progress=self._show_embedded,
        )
        if report.missing and not self._is_taken_over():
            return
        self._end_embedding()
        self._to_embed = False
        if self._is_watched:
            self._verify_at = min(self._verify_at, time.monotonic() + VERIFY_SECONDS)
        done = report.encoded + report.reused
        self._reporter.event("embedded", key=self._key, done=done, seconds=report.seconds)

    def _begin_embedding(self) -> None:
        """Let other processes see how far this one is, and take over."""
        with self._index.backend.reader() as reader:
            derived = reader.cache_folder  # None on a cluster
        missing = self._index.vectors.missing()
        if self._embedding is None and derived is not None and missing:
            folder = EmbeddingFolder(derived)
            self._embedding_lock.enter_context(write_lock(folder.path, 0.0, lambda _: None))
            folder.report(EmbeddingProgress(0, missing, 0.0, os.getpid()))
            self._embedding, self._embedding_started = folder, time.monotonic()

    def _show_embedded(self, progress: Progress) -> None:
        self._reporter.progress("embed", key=self._key)(progress)
        if self._embedding is not None and not self._is_taken_over():
            rate = progress.done / max(1e-3, time.monotonic() - self._embedding_started)
            self._embedding.report(EmbeddingProgress(progress.done, progress.total, rate, os.getpid()))

    def _is_put_off(self) -> bool:
        """Whether the rest waits until the machine is on mains power again; `dowse index` does not wait."""
        now = time.monotonic()
        if now - self._power_asked >= POWER_SECONDS:
            self._power_asked = now
            self._embed_at = now + POWER_SECONDS if is_on_battery() else 0.0
        return self._embed_at > now

    def _is_taken_over(self) -> bool:
        """Whether another process embeds the rest, or has removed the index."""
        return self._embedding is not None and not self._embedding.is_requested()

    def _end_embedding(self) -> None:
        if self._embedding is not None:
            self._embedding.remove_request()
        self._embedding_lock.close()
        self._embedding = None

    def _start_learning(self) -> None:
        """Learn from new commits, in a thread: it takes minutes, in which files change."""
        self._to_learn = False
        if not self._index.vectors.missing() and self._index.vectors.has_new_history():
            self._learner = threading.Thread(target=self._learn, daemon=True)
            self._learner.start()

    def _learn(self) -> None:
        # Nobody reads an error: the index is gone, or the disk is full. New commits are a new attempt.
        with contextlib.suppress(DowseError, OSError):
            self._index.vectors.learn()

    def _as_built(self) -> Index:
        """Return the index with the settings it was made with; saved files are parsed one by one."""
        if not self._index.exists:
            return self._index
        built = self._index.internals.as_built()
        settings = replace(built.settings, processes=1) if self._is_watched else built.settings
        return Index(built.root, settings, built.backend)


def _rules(index: Index) -> tuple[tuple[str, ...], bool]:
    """Return the settings that decide which files an index holds, apart from ignore files in the tree."""
    return index.settings.exclude, index.settings.include_secrets
