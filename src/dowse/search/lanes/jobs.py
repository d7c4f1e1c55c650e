"""What is asked of lanes and what comes back: the seam between the engine and whatever runs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Protocol

from dowse.errors import DowseError
from dowse.query.errors import QueryError
from dowse.security.terminal import first_line

if TYPE_CHECKING:
    import logging

    from dowse.storage.protocol import Reader

# Mistakes of the user or of the index, with a message that names the remedy; they travel as they are.
Mistake = DowseError | QueryError


@dataclass(frozen=True, slots=True)
class LaneJob:
    """One lane to run; its arguments must be picklable."""

    lane: str
    arguments: Mapping[str, object]


class LaneResult(Protocol):
    """What every lane finds: rows and scores, best first, and what it has to say of each, if anything."""

    @property
    def rows(self) -> Sequence[int]: ...  # noqa: D102
    @property
    def scores(self) -> Sequence[float]: ...  # noqa: D102
    @property
    def details(self) -> Sequence[str]: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job: a result, or a problem in one line."""

    lane: str
    result: LaneResult | None = None
    problem: str = ""  # e.g. "embedding: no answer within 3 s"
    milliseconds: float = 0.0  # from the question to this, waiting included
    moved: bool = False  # the index has another generation now: its rows are not the reader's
    error: Mistake | None = None  # the problem as it was raised, if the user can mend it


class LaneRunner(Protocol):
    """Runs lanes, in this process or in others."""

    def run(self, reader: Reader, jobs: Sequence[LaneJob], seconds: float) -> list[Outcome]:
        """Return what became of each job, in their order, when all are done or the time is up."""


def failure(lane: str, error: Exception) -> tuple[str, Mistake | None]:
    """Say in one line what an exception means; and give it back if it is one to be raised as it is."""
    mistake = error if isinstance(error, DowseError | QueryError) else None
    kind = "" if mistake else type(error).__name__
    return f"{lane}: " + ": ".join(filter(None, (kind, first_line(error)))), mistake


def log_problem(outcome: Outcome, detail: str = "") -> None:
    """Write a problem to the log; where it happened goes to those who want to know all."""
    if outcome.problem:
        _log().warning(outcome.problem)
        if detail:
            _log().debug("%s", detail)


@cache
def _log() -> logging.Logger:
    import logging  # takes milliseconds to load, and is hardly ever needed

    logging.getLogger("dowse").addHandler(logging.NullHandler())  # the answer names the problem already
    return logging.getLogger("dowse.search.lanes")
