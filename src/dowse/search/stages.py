"""Where the time of a search goes, stage by stage: `--explain` shows it."""

from __future__ import annotations

import time

from dowse.types import StageTime


class Stages:
    """The times of the stages of one search, one after another."""

    def __init__(self) -> None:
        self._milliseconds: dict[str, float] = {}
        self._began = time.perf_counter()

    def end(self, stage: str) -> None:
        """Count the time since the last stage ended; one that runs again adds to its time."""
        now = time.perf_counter()
        self._milliseconds[stage] = self._milliseconds.get(stage, 0.0) + 1000 * (now - self._began)
        self._began = now

    def times(self) -> tuple[StageTime, ...]:
        """Return the time of each stage that there was, in their order."""
        return tuple(StageTime(*each) for each in self._milliseconds.items())
