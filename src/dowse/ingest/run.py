"""Hand out repositories, a bounded number at a time, and gather what became of them."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from dowse.errors import DowseError
from dowse.ingest.checkpoint import Checkpoint
from dowse.ingest.repository import index_repository
from dowse.ingest.tasks import FAILED, Doing, Order, Outcome
from dowse.source.git import repo_identity

# How often progress is looked at.
_LOOK_SECONDS = 0.5
# So many failures in a row, all for one reason, are that of all that would follow.
_HOPELESS = 20


@dataclass(frozen=True, slots=True)
class Progress:
    """How far everything is."""

    repositories: int = 0  # that are behind
    total: int = 0
    failed: int = 0
    files: int = 0
    symbols: int = 0


class Workers(Protocol):
    """Those who do the work."""

    @property
    def room(self) -> int:
        """How many repositories may be in work at once."""

    def begin(self, path: str, known: str | None) -> None:
        """Hand out one repository."""

    def finished(self, seconds: float) -> list[Outcome]:
        """Wait a little and return those that are done with."""

    def doing(self) -> Doing:
        """Return what was done so far, of all repositories together."""


class Here:
    """This process, one repository after the other."""

    room = 1

    def __init__(self, order: Order) -> None:
        self._order = order
        self._waiting: tuple[str, str | None] | None = None
        self._before = self._now = Doing()
        self.on_progress: Callable[[], None] = lambda: None

    def begin(self, path: str, known: str | None) -> None:
        """Take one repository."""
        self._waiting = (path, known)

    def finished(self, seconds: float) -> list[Outcome]:
        """Do it."""
        if self._waiting is None:
            return []
        (path, known), self._waiting = self._waiting, None
        outcome = index_repository(path, self._order, known=known, note=self._note)
        self._before, self._now = self.doing(), Doing()
        return [outcome]

    def doing(self) -> Doing:
        """Return what was done so far."""
        before, now = self._before, self._now
        return Doing(before.files + now.files, before.symbols + now.symbols)

    def _note(self, files: int, symbols: int) -> None:
        self._now = Doing(files, symbols)
        self.on_progress()


@dataclass(frozen=True, slots=True)
class Summary:
    """What became of all repositories."""

    outcomes: tuple[Outcome, ...]
    seconds: float

    def of(self, status: str) -> list[Outcome]:
        """Return those that ended in one way."""
        return [outcome for outcome in self.outcomes if outcome.status == status]


def ingest(
    paths: Sequence[str],
    workers: Workers,
    checkpoint: Checkpoint,
    *,
    shared: bool,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Summary:
    """Index every repository; the failure of one is told at the end and does not keep others.

    Args:
        paths: The repositories.
        workers: Who indexes.
        checkpoint: What was done by runs before this one, and where to note more.
        shared: Whether all go into one index: then no two may bear the same name.
        on_progress: Called about twice a second, and after every repository.
    """
    started = time.monotonic()
    twins = _twins(paths) if shared else {}
    outcomes = list(twins.values())
    waiting = deque(path for path in paths if path not in twins)
    busy = 0
    while waiting or busy:
        while waiting and busy < workers.room:
            path = waiting.popleft()
            workers.begin(path, checkpoint.done.get(path))
            busy += 1
        for outcome in workers.finished(_LOOK_SECONDS):
            busy -= 1
            checkpoint.note(outcome)
            outcomes.append(outcome)
            _give_up_if_hopeless(outcomes)
        on_progress(progress_of(outcomes, len(paths), workers))
    order = {path: number for number, path in enumerate(paths)}
    ordered = sorted(outcomes, key=lambda outcome: order[outcome.path])
    return Summary(tuple(ordered), time.monotonic() - started)


def progress_of(outcomes: Sequence[Outcome], total: int, workers: Workers) -> Progress:
    """Return how far everything is."""
    doing = workers.doing()
    failed = sum(outcome.status == FAILED for outcome in outcomes)
    return Progress(len(outcomes), total, failed, doing.files, doing.symbols)


def _twins(paths: Sequence[str]) -> dict[str, Outcome]:
    """Return the outcome of repositories that bear the name of one before them: both would be one source."""
    first: dict[str, str] = {}
    twins: dict[str, Outcome] = {}
    for path in paths:
        if os.path.exists(path):  # noqa: PTH110 - else only a worker can tell
            name = repo_identity(path)
            if first.setdefault(name, path) != path:
                why = f"it is called {name}, as {first[name]} is; leave one of the two out"
                twins[path] = Outcome(path, FAILED, why, name)
    return twins


def _give_up_if_hopeless(outcomes: Sequence[Outcome]) -> None:
    """Raise if everything fails for one reason, such as a cluster that is gone."""
    last = outcomes[-_HOPELESS:]
    reasons = {outcome.problem for outcome in last}
    if len(last) == _HOPELESS and len(reasons) == 1 and last[0].status == FAILED:
        raise DowseError(f"{last[0].problem} (the last {_HOPELESS} repositories failed for this; stopped)")
