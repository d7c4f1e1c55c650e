"""One call of a client, and whether the client still waits for it."""

from __future__ import annotations

import threading
import time

from dowse.errors import Cancelled
from dowse.lazy_classes import dataclass, field


@dataclass(frozen=True, slots=True)
class Call:
    """One call: when it arrived, and whether the client still waits for it."""

    started: float = field(default_factory=time.monotonic)
    stop: threading.Event = field(default_factory=threading.Event)

    def check(self, *_: object) -> None:
        """Raise if the call was cancelled; a callback of long operations."""
        if self.stop.is_set():
            raise Cancelled("the call was cancelled")
