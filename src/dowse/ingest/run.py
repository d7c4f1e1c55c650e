"""Schedule repositories on workers, a bounded number at a time, and collect the outcomes."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from dowse.errors import ConfigError, DowseError
from dowse.ingest.repository import FAILED, Counts, IngestOptions, Outcome, Status, index_repository
from dowse.lazy_classes import dataclass
from dowse.source.git import repo_identity

# How often progress is polled.
_POLL_SECONDS = 0.5
# So many consecutive failures with one reason end the run: all others would fail for it too.
_MAX_EQUAL_FAILURES = 20


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run."""

    repositories: int = 0  # that are finished
    total: int = 0
    failed: int = 0
    files: int = 0
    symbols: int = 0


class Workers(Protocol):
    """A pool of workers."""

    @property
    def capacity(self) -> int:
        """How many repositories may be indexed at once."""

    def submit(self, path: str) -> None:
        """Start to index one repository."""

    def wait(self, seconds: float) -> list[Outcome]:
        """Wait up to `seconds` and return the repositories that are finished."""

    def counts(self) -> Counts:
        """Return the counts of all repositories so far."""


class LocalWorker:
    """This process, one repository after the other."""

    capacity = 1

    def __init__(self, options: IngestOptions) -> None:
        self._options = options
        self._pending: str | None = None
        self._finished = self._current = Counts()
        self.on_progress: Callable[[], None] = lambda: None

    def submit(self, path: str) -> None:
        """Take one repository."""
        self._pending = path

    def wait(self, seconds: float) -> list[Outcome]:
        """Index it."""
        if self._pending is None:
            return []
        path, self._pending = self._pending, None
        outcome = index_repository(path, self._options, on_count=self._count)
        self._finished, self._current = self.counts(), Counts()
        return [outcome]

    def counts(self) -> Counts:
        """Return the counts so far."""
        before, now = self._finished, self._current
        return Counts(before.files + now.files, before.symbols + now.symbols)

    def _count(self, files: int, symbols: int) -> None:
        self._current = Counts(files, symbols)
        self.on_progress()


@dataclass(frozen=True, slots=True)
class Summary:
    """The outcomes of all repositories."""

    outcomes: tuple[Outcome, ...]
    seconds: float

    def with_status(self, status: Status) -> list[Outcome]:
        """Return the outcomes with one status."""
        return [outcome for outcome in self.outcomes if outcome.status == status]


def ingest(
    paths: Sequence[str],
    workers: Workers,
    *,
    shared: bool,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Summary:
    """Index every repository; a failure is reported at the end and does not stop the others.

    Args:
        paths: The repositories.
        workers: The workers that index.
        shared: Whether all go into one index: then no two may have the same name.
        on_progress: Called about twice a second, and after every repository.
    """
    started = time.monotonic()
    duplicates = _duplicates(paths) if shared else {}
    outcomes = list(duplicates.values())
    pending = deque(path for path in paths if path not in duplicates)
    running = 0
    while pending or running:
        while pending and running < workers.capacity:
            path = pending.popleft()
            workers.submit(path)
            running += 1
        for outcome in workers.wait(_POLL_SECONDS):
            running -= 1
            outcomes.append(outcome)
            _check_failures(outcomes)
        failed = sum(outcome.status == FAILED for outcome in outcomes)
        on_progress(Progress(len(outcomes), len(paths), failed, *workers.counts()))
    order = {path: position for position, path in enumerate(paths)}
    ordered = sorted(outcomes, key=lambda outcome: order[outcome.path])
    return Summary(tuple(ordered), time.monotonic() - started)


def collect_paths(paths: Iterable[str], list_file: Path | None) -> list[str]:
    """Return the given paths and those of a list, each once and in full, in the given order."""
    every = [*paths, *(_read_list(list_file) if list_file is not None else ())]
    return list(dict.fromkeys(os.path.realpath(os.path.expanduser(path)) for path in every))  # noqa: PTH111


def _read_list(file: Path) -> list[str]:
    """Return the paths of a file, one a line, without empty lines and comments (`#`)."""
    try:
        lines = file.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except IsADirectoryError as error:
        raise ConfigError(f"--list {file} is a folder; name a file with one path a line") from error
    return [line for line in map(str.strip, lines) if line and not line.startswith("#")]


def _duplicates(paths: Sequence[str]) -> dict[str, Outcome]:
    """Return failures for repositories that have the name of an earlier one: both would be one source."""
    first: dict[str, str] = {}
    duplicates: dict[str, Outcome] = {}
    for path in paths:
        if os.path.exists(path):  # noqa: PTH110 - else only a worker can tell
            name = repo_identity(path)
            if first.setdefault(name, path) != path:
                problem = f"it is called {name}, as {first[name]} is; leave one of the two out"
                duplicates[path] = Outcome(path, FAILED, problem, name)
    return duplicates


def _check_failures(outcomes: Sequence[Outcome]) -> None:
    """Raise if the last repositories all failed for one reason, such as an unreachable cluster."""
    last = outcomes[-_MAX_EQUAL_FAILURES:]
    problems = {outcome.problem for outcome in last}
    if len(last) == _MAX_EQUAL_FAILURES and len(problems) == 1 and last[0].status == FAILED:
        raise DowseError(
            f"{last[0].problem} (the last {_MAX_EQUAL_FAILURES} repositories failed for this; stopped)"
        )
