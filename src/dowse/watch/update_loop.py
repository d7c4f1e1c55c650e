"""The work of a watcher: news of changed files go in, generations of the index come out.

One thread, which waits for whatever is due next: a batch of changes, symbols to encode, a scan to make sure.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from dowse.errors import DowseError
from dowse.index import Index
from dowse.indexing.update import Progress
from dowse.source.git import git_directory
from dowse.source.tree_scanner import ScanResult, TreeScanner
from dowse.watch.commands import Requests
from dowse.watch.polling import Polling
from dowse.watch.sources import GIT_EXCLUDE, LimitReached, News, Source, open_source

# A batch ends when nothing has happened for so long, or at the latest after so long.
QUIET_SECONDS, BATCH_SECONDS = 0.05, 0.5
# While git changes files itself, a batch waits for it; a lock older than this was left by a killed git.
GIT_SECONDS, _STALE_LOCK_SECONDS = 10.0, 60.0
# From so many changed paths on, a scan is quicker than looks at each.
SCAN_PATHS = 300
# So long after the last change a scan makes sure that nothing was missed.
VERIFY_SECONDS = 30.0
# After a failure it is tried again after so long.
RETRY_SECONDS = 5.0
# So often somebody who has nothing to do looks whether the machine was asleep.
_LOOK_UP_SECONDS = 30.0
# Symbols that are encoded before anything else can be done; those of a save are fewer.
_CHUNK = 64

Say = Callable[..., None]


@dataclass(slots=True)
class Dirt:
    """Changes that are not in the index yet."""

    news: News = field(default_factory=News)
    first: float = 0.0
    last: float = 0.0

    def add(self, news: News, now: float) -> None:
        """Take in more."""
        if not self.news:
            self.first = now
        self.last = now
        self.news = News(self.news.paths | news.paths, self.news.lost or news.lost)


class WatchLoop:
    """Keeps one index true until it is asked to end."""

    def __init__(self, index: Index, poll: bool, requests: Requests, say: Say) -> None:
        self._index, self._poll, self._requests, self._say = index, poll, requests, say
        self._dirt = Dirt()
        self._source: Source | None = None
        self._scanner = TreeScanner(index.root)
        self._rules: tuple[tuple[str, ...], bool] = ((), False)
        self._generation = 0  # that was told of
        self._git = git_directory(str(index.root))
        self._to_embed = index.settings.encoder != "none"
        self._to_finish = False
        self._verify_at: float | None = None
        self._slept = _asleep()

    def run(self) -> None:
        """Watch; what fails is said and tried again."""
        try:
            while not self._requests.ended:
                try:
                    self._begin()
                    while not self._requests.ended:
                        self._step()
                except LimitReached:
                    continue  # a folder too many: from now on by scans
                except (DowseError, OSError) as error:
                    self._say("failed", detail=f"{error}; trying again in {RETRY_SECONDS:.0f} s")
                    self._pause(RETRY_SECONDS)
        finally:
            self._close()

    def _begin(self) -> None:
        """Watch first, then scan: what happens in between is seen twice, which does no harm."""
        self._close()
        self._dirt = Dirt()
        try:
            self._source = open_source(self._index.root, self._poll)
            self._scan()
        except LimitReached as error:
            self._close()
            self._source = Polling(str(error))
            self._scan()
        self._say("watching", detail=self._source.words)

    def _close(self) -> None:
        if self._source is not None:
            self._source.close()
        self._source = None

    def _step(self) -> None:
        """Wait for what is due next, and do it."""
        source = self._source
        assert source is not None  # noqa: S101 - made by `_begin`
        source.wait(self._requests.wake, self._patience())
        self._requests.admit()
        now = time.monotonic()
        news = source.read()
        if self._has_slept():
            news.lost = True
        if news:
            self._dirt.add(news, now)
        if self._requests and not source.is_exact:
            self._dirt.add(News(lost=True), now)
        if self._dirt.news and (self._requests or now >= self._due()):
            self._flush()
        if not self._dirt.news:
            self._answer(meaning=not self._to_embed)
            self._later(now)

    def _later(self, now: float) -> None:
        """Do what can wait until no changes do: encode, then make sure."""
        if self._to_embed:
            self._embed(finish=False)
        elif self._verify_at is not None and now >= self._verify_at:
            self._verify_at = None
            self._scan()
            if self._to_finish:
                self._embed(finish=True)

    def _patience(self) -> float:
        """Return how long nothing has to be done."""
        now = time.monotonic()
        if self._dirt.news:
            return max(0.0, self._due() - now)
        if self._to_embed:
            return 0.0
        return _LOOK_UP_SECONDS if self._verify_at is None else max(0.0, self._verify_at - now)

    def _due(self) -> float:
        """Return when the changes that are known are to be taken in."""
        if self._git_is_at_work():
            return min(time.monotonic() + QUIET_SECONDS, self._dirt.first + GIT_SECONDS)
        return min(self._dirt.last + QUIET_SECONDS, self._dirt.first + BATCH_SECONDS)

    def _git_is_at_work(self) -> bool:
        if self._git is None:
            return False
        try:
            return time.time() - Path(self._git, "index.lock").stat().st_mtime < _STALE_LOCK_SECONDS
        except OSError:
            return False

    def _flush(self) -> None:
        """Take in the changes that are known."""
        news, self._dirt = self._dirt.news, Dirt()
        switched = bool(news.paths & {".git/HEAD", GIT_EXCLUDE})
        paths = {path for path in news.paths if not path.startswith(".git/")}
        seen = None
        if not news.lost and not switched and len(paths) <= SCAN_PATHS and self._knows_the_rules():
            seen = self._scanner.rescan(paths)
        if seen is not None and not seen.paths:
            return  # ignored, or come and gone
        wrote = self._scan(paths) if seen is None else self._update(seen)
        if wrote or paths:
            self._verify_at = time.monotonic() + VERIFY_SECONDS

    def _knows_the_rules(self) -> bool:
        """Whether the index is there, and leaves out what it did at the last scan: others may write it."""
        return self._index.exists and _rules(self._as_built()) == self._rules

    def _scan(self, changed: Iterable[str] = ()) -> bool:
        assert self._source is not None  # noqa: S101
        built = self._as_built()
        self._rules = exclude, include_secrets = _rules(built)
        self._scanner = TreeScanner(
            *(built.root, exclude, built.settings.max_file_bytes, self._source.add),
            include_secrets=include_secrets,
        )
        return self._update(self._scanner.scan(changed))

    def _update(self, seen: ScanResult) -> bool:
        """Take in what was seen; return whether that made a new generation."""
        report = self._as_built().update(
            seen=seen,
            on_progress=lambda progress: self._far("index", progress),
            on_wait=lambda message: self._say("waiting", detail=message),
        )
        if report.generation == self._generation:
            return False
        self._generation = report.generation
        self._to_embed = self._to_finish = self._index.settings.encoder != "none"
        self._say(
            "indexed",
            added=report.added,
            changed=report.changed,
            deleted=report.deleted,
            generation=report.generation,
            seconds=report.seconds,
        )
        return True

    def _embed(self, finish: bool) -> None:
        """Encode what has no vector; stop where changes or questions come in between."""
        report = self._index.embed(
            chunk=_CHUNK,
            finish=finish,
            pause=self._has_better_to_do,
            on_progress=lambda progress: self._far("embed", progress),
            on_wait=lambda message: self._say("waiting", detail=message),
        )
        if report.missing:
            return
        if finish:
            self._to_finish = False
            return
        self._to_embed = False
        if self._to_finish and self._verify_at is None:
            self._verify_at = time.monotonic() + VERIFY_SECONDS
        self._say("embedded", done=report.encoded + report.reused, seconds=report.seconds)
        self._answer(meaning=True)

    def _has_better_to_do(self) -> bool:
        assert self._source is not None  # noqa: S101
        news = self._source.read()
        if news:
            self._dirt.add(news, time.monotonic())
        return self._requests.ended or self._requests.in_a_hurry or bool(self._dirt.news)

    def _answer(self, meaning: bool) -> None:
        for number in self._requests.answered(meaning):
            self._say("settled", number=number)

    def _as_built(self) -> Index:
        """Return the index with the settings it was made with; the first time, made with all cores."""
        return self._index.as_built() if self._index.exists else self._first()

    def _first(self) -> Index:
        settings = replace(self._index.settings, processes=max(1, os.cpu_count() or 1))
        return Index(self._index.root, settings, self._index.backend)

    def _far(self, kind: str, progress: Progress) -> None:
        self._say(kind, done=progress.done, total=progress.total)

    def _has_slept(self) -> bool:
        """Whether the machine was asleep since this was last asked: then anything may have changed."""
        before, self._slept = self._slept, _asleep()
        return self._slept - before > 1.0

    def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._requests.ended and (left := until - time.monotonic()) > 0:
            self._requests.admit()
            for number in self._requests.answered(meaning=True):
                self._say("settled", number=number, failed=True)
            select.select([self._requests.wake], [], [], left)


def _rules(index: Index) -> tuple[tuple[str, ...], bool]:
    """What decides which files an index holds, apart from what lies in the tree."""
    return index.settings.exclude, index.settings.include_secrets


def _asleep() -> float:
    """Return how long this machine has been asleep since it was started."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return 0.0
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()
