"""Where lanes run: several in parallel, in processes of their own; one alone, or those of a command, here."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from dowse import deadline
from dowse.config import Settings
from dowse.damage import CATALOG_ERRORS
from dowse.errors import Cancelled
from dowse.search.lanes.jobs import LANES, START_SECONDS, Lane, LaneJob, Outcome, failure, log_problem

if TYPE_CHECKING:
    from dowse.encoders.encoder import Encoder
    from dowse.search.lanes.host import LaneHost
    from dowse.storage.protocol import Reader


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
        address: str,
        settings: Settings,
        encoder: Callable[[], Encoder | None],
        *,
        in_process: bool = False,
    ) -> None:
        """Prepare; nothing is started before the first search.

        Args:
            address: Of the index.
            settings: `isolation`, and the limits.
            encoder: Returns the encoder.
            in_process: Whether `isolation = auto` means this process for several lanes, too.
        """
        self._address, self._settings, self._in_process = address, settings, in_process
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
        isolation = self._settings.isolation
        return isolation == "always" or (isolation == "auto" and count > 1 and not self._in_process)

    def _lane_host(self) -> LaneHost:
        with self._lock:  # threads whose first searches come together share the processes
            if self._host is None:
                from dowse.search.lanes.host import LaneHost

                self._host = LaneHost(self._address, self._settings)
            return self._host
