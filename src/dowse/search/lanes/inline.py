"""Runs lanes sequentially in this process: no limits, no start-up; for searches with one lane, and tests."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from dowse.search.lanes.jobs import LaneJob, Outcome, failure, log_problem
from dowse.search.lanes.registry import LANES, Lane

if TYPE_CHECKING:
    from dowse.encoders.encoder import Encoder
    from dowse.storage.protocol import Reader


class InlineLanes:
    """Runs lanes in this process."""

    def __init__(
        self, encoder: Callable[[], Encoder | None] = lambda: None, lanes: Mapping[str, Lane] = LANES
    ) -> None:
        self._encoder = encoder  # called only for a lane that needs one
        self._lanes = lanes

    def run(self, reader: Reader, jobs: Sequence[LaneJob], seconds: float = 0.0) -> list[Outcome]:
        """Run each job to its end, however long that takes; an exception becomes a problem of its outcome."""
        return [self._run(reader, job) for job in jobs]

    def _run(self, reader: Reader, job: LaneJob) -> Outcome:
        started, detail = time.perf_counter(), ""
        result, problem, user_error = None, "", None
        try:
            lane = self._lanes[job.lane]
            encoder = self._encoder() if lane.wants_encoder else None
            result = lane.call(reader, encoder, job.arguments)
        except Exception as error:
            import traceback

            problem, user_error = failure(job.lane, error)
            detail = traceback.format_exc()
        milliseconds = 1000 * (time.perf_counter() - started)
        outcome = Outcome(job.lane, result, problem, milliseconds, error=user_error)
        log_problem(outcome, detail)
        return outcome
