"""The event loop of a watcher: file changes go in, generations of the index come out.

One thread, which waits for whatever is due next: a batch of changes, symbols to encode, a verifying scan.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from dowse.errors import DowseError
from dowse.index import Index
from dowse.source.git import git_directory
from dowse.source.tree_scanner import ScanResult, TreeScanner
from dowse.watch.commands import Commands
from dowse.watch.sources import (
    GIT_EXCLUDE,
    ChangeSource,
    FileChanges,
    PollingSource,
    WatchLimitReached,
)
from dowse.workers.child import EventReporter

# Debounce: a batch ends when nothing has happened for so long, or at the latest after so long.
DEBOUNCE_SECONDS, BATCH_SECONDS = 0.05, 0.5
# While git changes files itself, a batch waits for it; a lock older than this was left by a killed git.
GIT_SECONDS, _STALE_LOCK_SECONDS = 10.0, 60.0
# From so many changed paths on, a scan is quicker than a look at each.
SCAN_PATHS = 300
# So long after the last change a scan verifies that nothing was missed.
VERIFY_SECONDS = 30.0
# After a failure, the next attempt is made after so long.
RETRY_SECONDS = 5.0
# How often an idle loop checks whether the machine was suspended.
_IDLE_SECONDS = 30.0
# Symbols that are encoded before anything else can be done; those of a save are fewer.
_CHUNK = 64


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


class UpdateLoop:
    """Keeps one index up to date until it is asked to end."""

    def __init__(self, index: Index, poll: bool, commands: Commands, reporter: EventReporter) -> None:
        self._index, self._poll, self._commands, self._reporter = index, poll, commands, reporter
        self._pending = PendingChanges()
        self._source: ChangeSource = PollingSource("not started")
        self._scanner = TreeScanner(index.root)
        self._rules: tuple[tuple[str, ...], bool] = ((), False)
        self._generation = 0  # the last that was reported
        self._git = git_directory(str(index.root))
        self._to_embed = index.settings.encoder != "none"
        self._to_finish = False
        self._verify_at: float | None = None
        self._suspended = _suspended_seconds()

    def run(self) -> None:
        """Watch; a failure is reported, and the next attempt made after a pause."""
        try:
            while not self._commands.ended:
                try:
                    self._begin()
                    while not self._commands.ended:
                        self._step()
                except WatchLimitReached:
                    continue  # one folder too many: `_begin` falls back to polling
                except (DowseError, OSError) as error:
                    detail = f"{error}; trying again in {RETRY_SECONDS:.0f} s"
                    self._reporter.event("failed", detail=detail)
                    self._commands.fail_for(RETRY_SECONDS, self._reporter)
        finally:
            self._source.close()

    def _begin(self) -> None:
        """Watch first, then scan: what happens in between is seen twice, which does no harm."""
        self._source.close()
        self._source = PollingSource("as asked")  # which has nothing to close, should opening the other fail
        self._pending = PendingChanges()
        try:
            if not self._poll:
                self._source = _open_source(self._index.root)
            self._scan()
        except WatchLimitReached as error:
            self._source.close()
            self._source = PollingSource(str(error))
            self._scan()
        self._reporter.event("watching", detail=self._source.description)

    def _step(self) -> None:
        """Wait for what is due next, and do it."""
        self._source.wait(self._commands.wake, self._idle_time())
        self._commands.accept()
        now = time.monotonic()
        changes = self._source.read()
        changes.needs_scan |= self._was_suspended() or (bool(self._commands) and not self._source.is_exact)
        self._pending.add(changes, now)
        if self._pending.changes and (self._commands or now >= self._due()):
            self._flush()
        if not self._pending.changes:
            self._answer(vectors=not self._to_embed)
            self._do_deferred(now)

    def _do_deferred(self, now: float) -> None:
        """Do what can wait until no changes are pending: encode, then verify."""
        if self._to_embed:
            self._embed(finish=False)
        elif self._verify_at is not None and now >= self._verify_at:
            self._verify_at = None
            self._scan()
            if self._to_finish:
                self._embed(finish=True)

    def _idle_time(self) -> float:
        """Return how long nothing is due."""
        now = time.monotonic()
        if self._pending.changes:
            return max(0.0, self._due() - now)
        if self._to_embed:
            return 0.0
        return _IDLE_SECONDS if self._verify_at is None else max(0.0, self._verify_at - now)

    def _due(self) -> float:
        """Return when the pending changes are to be flushed."""
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
        self._scanner = TreeScanner(
            *(built.root, exclude, built.settings.max_file_bytes, self._source.add),
            include_secrets=include_secrets,
        )
        return self._update(self._scanner.scan(suspects))

    def _update(self, seen: ScanResult) -> bool:
        """Update the index incrementally; return whether that made a new generation."""
        report = self._as_built().update(
            seen=seen,
            on_progress=self._reporter.progress("index"),
            on_wait=self._reporter.waiting,
        )
        if report.generation == self._generation:
            return False
        self._generation = report.generation
        self._to_embed = self._to_finish = self._index.settings.encoder != "none"
        self._reporter.event(
            "indexed",
            added=report.added,
            changed=report.changed,
            deleted=report.deleted,
            generation=report.generation,
            seconds=report.seconds,
        )
        return True

    def _embed(self, finish: bool) -> None:
        """Encode symbols without a vector; stop where changes or commands come in between."""
        report = self._index.embed(
            chunk=_CHUNK,
            finish=finish,
            pause=self._should_pause,
            on_progress=self._reporter.progress("embed"),
            on_wait=self._reporter.waiting,
        )
        if report.missing:
            return
        if finish:
            self._to_finish = False
            return
        self._to_embed = False
        if self._to_finish and self._verify_at is None:
            self._verify_at = time.monotonic() + VERIFY_SECONDS
        self._reporter.event("embedded", done=report.encoded + report.reused, seconds=report.seconds)
        self._answer(vectors=True)

    def _should_pause(self) -> bool:
        """Whether changes or commands wait that come before encoding."""
        self._pending.add(self._source.read(), time.monotonic())
        return self._commands.ended or self._commands.has_urgent or bool(self._pending.changes)

    def _answer(self, *, vectors: bool) -> None:
        for number in self._commands.take(vectors=vectors):
            self._reporter.event("settled", number=number)

    def _as_built(self) -> Index:
        """Return the index with the settings it was made with; the first time, it is made with all cores."""
        if self._index.exists:
            return self._index.as_built()
        settings = replace(self._index.settings, processes=max(1, os.cpu_count() or 1))
        return Index(self._index.root, settings, self._index.backend)

    def _was_suspended(self) -> bool:
        """Whether the machine was suspended since the last call: then anything may have changed."""
        before, self._suspended = self._suspended, _suspended_seconds()
        return self._suspended - before > 1.0


def _open_source(root: Path) -> ChangeSource:
    """Return the source of file changes that fits this system."""
    if sys.platform.startswith("linux"):
        from dowse.watch.inotify import InotifySource

        return InotifySource(root)
    from dowse.watch.watchfiles_source import WatchfilesSource

    return WatchfilesSource(root)


def _rules(index: Index) -> tuple[tuple[str, ...], bool]:
    """Return the settings that decide which files an index holds, apart from ignore files in the tree."""
    return index.settings.exclude, index.settings.include_secrets


def _suspended_seconds() -> float:
    """Return how long this machine has been suspended since it was booted."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return 0.0
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()
