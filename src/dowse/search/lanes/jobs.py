"""Lanes, their jobs and outcomes, and where jobs run.

Several lanes run in parallel, in processes of their own; one alone, or those of a command, run here.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from dowse import deadline
from dowse.damage import CATALOG_ERRORS
from dowse.errors import Cancelled, DowseError, QueryError
from dowse.lazy_classes import NamedTuple, dataclass
from dowse.security.terminal import first_line

if TYPE_CHECKING:
    import logging

    from dowse.encoders.encoder import Encoder
    from dowse.search.lanes.host import LaneHost
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


class _StillStarting(Exception):
    """The encoder is not loaded within its time limit."""


class InlineLanes:
    """Runs lanes in this process, one after another: no limits but that of the encoder's start."""

    def __init__(
        self,
        encoder: Callable[[], Encoder | None] = lambda: None,
        lanes: Mapping[str, Lane] = LANES,
        start_seconds: float = START_SECONDS,
    ) -> None:
        self._encoder = encoder  # called only for a lane that needs one
        self._lanes, self._start_seconds = lanes, start_seconds
        self._loading: threading.Thread | None = None

    def warm(self) -> None:
        """Load the encoder in a thread: native code reads its weights while other lanes run."""
        if self._loading is None:
            # No daemon: an interpreter that ends within native code aborts.
            self._loading = threading.Thread(target=self._load_encoder, name="dowse-encoder")
            self._loading.start()

    def run(self, reader: Reader, jobs: Sequence[LaneJob], seconds: float = 0.0) -> list[Outcome]:
        """Run each job to its end, however long that takes; an exception becomes a problem of its outcome."""
        return [self._run(reader, job) for job in jobs]

    def _run(self, reader: Reader, job: LaneJob) -> Outcome:
        started, detail = time.perf_counter(), ""
        result, problem, user_error = None, "", None
        try:
            deadline.check()
            lane = self._lanes[job.lane]
            encoder = self._ready_encoder() if lane.wants_encoder else None
            result = lane.call(reader, encoder, job.arguments)
        except (Cancelled, *CATALOG_ERRORS):  # the reader says what those mean
            raise
        except _StillStarting as error:
            problem = f"{job.lane}: {error}"
        except Exception as error:
            import traceback

            problem, user_error = failure(job.lane, error)
            detail = traceback.format_exc()
        milliseconds = 1000 * (time.perf_counter() - started)
        outcome = Outcome(job.lane, result, problem, milliseconds, error=user_error)
        log_problem(outcome, detail)
        return outcome

    def _load_encoder(self) -> None:
        with contextlib.suppress(Exception):  # the lane raises it again
            encoder = self._encoder()
            if encoder is not None:
                encoder.encode_queries(["a"])

    def _ready_encoder(self) -> Encoder | None:
        """Return the encoder once it is loaded; raises _StillStarting if that takes too long."""
        if self._loading is not None:
            self._loading.join(self._start_seconds)
            if self._loading.is_alive():
                raise _StillStarting(f"still starting after {self._start_seconds:.3g} s")
        return self._encoder()


class LaneDispatcher:
    """Runs the lanes of one index as its setting `isolation` says.

    A search with one lane has no answer without it, and so nothing to gain from a process of its own.
    """

    def __init__(
        self,
        isolation: str,
        encoder: Callable[[], Encoder | None],
        make_host: Callable[[], LaneHost],
        *,
        in_process: bool = False,
    ) -> None:
        """Prepare; nothing is started before the first search.

        Args:
            isolation: The setting.
            encoder: Returns the encoder.
            make_host: Makes what runs lanes in processes of their own.
            in_process: Whether `isolation = auto` means this process for several lanes, too.
        """
        self._isolation, self._make_host, self._in_process = isolation, make_host, in_process
        self._inline = InlineLanes(encoder)
        self._host: LaneHost | None = None
        self._lock = threading.Lock()

    def run(self, reader: Reader, jobs: Sequence[LaneJob], seconds: float) -> list[Outcome]:
        """Return the outcome of each job, in their order."""
        if not self._needs_processes(len(jobs)):
            return self._inline.run(reader, jobs, seconds)
        return self._lane_host().run(reader, jobs, seconds)

    def warm(self, lanes: Sequence[str]) -> None:
        """Start what a search with these lanes will need, and do not wait for it."""
        if self._needs_processes(len(lanes)):
            self._lane_host().warm(*lanes)
        elif any(LANES[lane].wants_encoder for lane in lanes):
            self._inline.warm()

    def states(self) -> dict[str, str]:
        """Return up, starting or failing for every lane that has a process."""
        return self._host.states() if self._host is not None else {}

    def close(self) -> None:
        """End the processes; a later search starts new ones."""
        if self._host is not None:
            self._host.close()

    def _needs_processes(self, count: int) -> bool:
        is_apart = self._isolation == "auto" and count > 1 and not self._in_process
        return self._isolation == "always" or is_apart

    def _lane_host(self) -> LaneHost:
        with self._lock:  # threads whose first searches come together share the processes
            if self._host is None:
                self._host = self._make_host()
            return self._host
