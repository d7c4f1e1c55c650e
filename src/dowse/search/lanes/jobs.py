"""Lanes, their jobs and outcomes: the interface between the search pipeline and what runs the lanes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from dowse.errors import DowseError, QueryError
from dowse.security.terminal import first_line

if TYPE_CHECKING:
    import logging

    from dowse.encoders.encoder import Encoder
    from dowse.storage.protocol import Reader

# Errors of the user or of the index, with a message that names the remedy; they are raised to the caller.
UserError = DowseError | QueryError
# Score in the graph lane of a symbol that merely mentions the name: below all others.
MENTION_SCORE = 1e-6
# How long a search waits for the start of a lane: a busy machine loads models slowly.
START_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class LaneJob:
    """One lane to run; its arguments must be picklable."""

    lane: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class LaneResult:
    """The candidates of a lane, best first."""

    rows: tuple[int, ...]
    scores: tuple[float, ...]
    details: tuple[str, ...] = ()  # why each is a candidate, for lanes that explain it


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a job: a result, or a problem in one line."""

    lane: str
    result: LaneResult | None = None
    problem: str = ""  # e.g. "embedding: no answer within 3 s"
    milliseconds: float = 0.0  # of latency, waiting included
    is_stale: bool = False  # the index has another generation now: its rows are not the reader's
    error: UserError | None = None  # the problem as it was raised, if the user can fix it


class LaneRunner(Protocol):
    """Runs lanes, in this process or in others."""

    def run(self, reader: Reader, jobs: Sequence[LaneJob], seconds: float) -> list[Outcome]:
        """Return the outcome of each job, in their order, when all are done or the time is up."""


def columns(hits: Sequence[tuple[int, float]]) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the rows and the scores of (row, score) pairs."""
    return tuple(row for row, _ in hits), tuple(score for _, score in hits)


def failure(lane: str, error: Exception) -> tuple[str, UserError | None]:
    """Return an exception as a problem in one line, and the exception itself if the caller gets it."""
    user_error = error if isinstance(error, DowseError | QueryError) else None
    kind = "" if user_error else type(error).__name__
    return f"{lane}: " + ": ".join(filter(None, (kind, first_line(error)))), user_error


def log_problem(outcome: Outcome, detail: str = "") -> None:
    """Log a problem; its traceback at level DEBUG."""
    if outcome.problem:
        _log().warning(outcome.problem)
        if detail:
            _log().debug("%s", detail)


@cache
def _log() -> logging.Logger:
    import logging  # takes milliseconds to load, and is hardly ever needed

    logging.getLogger("dowse").addHandler(logging.NullHandler())  # the answer names the problem already
    return logging.getLogger("dowse.search.lanes")


class Lane(NamedTuple):
    """A lane; its function is called with a reader, with the encoder if it wants one, and with arguments."""

    function: str  # "module:name", imported when it is first needed
    wants_encoder: bool = False
    # The arguments of one call at the start, so that the first request finds everything loaded.
    warm_up: Mapping[str, object] | None = None

    def load(self) -> Callable[..., Any]:
        """Import the function."""
        module, _, name = self.function.partition(":")
        function: Callable[..., Any] = getattr(import_module(module), name)
        return function

    def call(self, reader: Reader, encoder: Encoder | None, arguments: Mapping[str, object]) -> LaneResult:
        """Run the lane."""
        first = (reader, encoder) if self.wants_encoder else (reader,)
        result: LaneResult = self.load()(*first, **arguments)
        return result


LANES: Mapping[str, Lane] = {
    "keyword": Lane(
        "dowse.search.lanes.bm25:keyword_lane",
        warm_up={"text": "a", "limit": 1, "relax_below": 0, "fuzziness": "0", "field_weights": {"name": 1.0}},
    ),
    # Without words nothing is counted: the caller does that before, for it may take long.
    "tfidf": Lane("dowse.search.lanes.tfidf:tfidf_lane", warm_up={"text": "", "limit": 1}),
    "embedding": Lane(
        "dowse.search.lanes.dense:embedding_lane", wants_encoder=True, warm_up={"text": "a", "limit": 1}
    ),
    "graph": Lane("dowse.search.lanes.graph:graph_query_lane", warm_up={"seeds": (), "limit": 1}),
}
