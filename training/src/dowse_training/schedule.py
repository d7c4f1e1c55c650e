"""The learning rate over a stage, and how much of the stage is done."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

SCHEDULES = ("linear", "cosine", "constant")


def learning_rate(peak: float, kind: str, progress: float, step: int, warm_steps: int, end: float) -> float:
    """The rate after `step` steps and a share `progress` of the stage; `end` is a share of the peak."""
    rise = min(1.0, (step + 1) / warm_steps) if warm_steps else 1.0
    if kind == "constant":
        return peak * rise
    fall = (1 + math.cos(math.pi * min(1.0, progress))) / 2 if kind == "cosine" else 1 - progress
    return peak * rise * max(end, fall)


@dataclass(slots=True)
class Clock:
    """How far a stage is: by its own seconds when it has some, by its steps else.

    A stage of seconds ends when they do, whatever the machine; one of steps is the same on every run.
    """

    seconds: float = 0.0
    steps: int = 0
    before: float = 0.0  # seconds spent before a resume
    began: float = field(default_factory=time.monotonic)

    def elapsed(self) -> float:
        """Seconds spent, those before a resume included."""
        return self.before + time.monotonic() - self.began

    def progress(self, step: int) -> float:
        """The share done, from 0."""
        return step / self.steps if self.steps else self.elapsed() / self.seconds
