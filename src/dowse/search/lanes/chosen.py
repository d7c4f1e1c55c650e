"""Where lanes run: several at once in processes of their own, one alone right here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dowse.config import Settings
from dowse.search.lanes.inline import InlineLanes
from dowse.search.lanes.jobs import LaneJob, Outcome

if TYPE_CHECKING:
    from dowse.encoders.encoder import Encoder
    from dowse.search.lanes.host import LaneHost
    from dowse.storage.protocol import Reader


class ChosenLanes:
    """The lanes of one index, run as its settings say.

    A search with one lane has nobody to go on without it, and so nothing to gain from a process of its own.
    """

    def __init__(self, address: str, settings: Settings, encoder: Callable[[], Encoder | None]) -> None:
        self._address, self._settings = address, settings
        self._inline = InlineLanes(encoder)
        self._host: LaneHost | None = None
        self._lock = threading.Lock()

    def run(self, reader: Reader, jobs: Sequence[LaneJob], seconds: float) -> list[Outcome]:
        """Return what became of each job, in their order."""
        if not self._apart(len(jobs)):
            return self._inline.run(reader, jobs, seconds)
        return self._processes().run(reader, jobs, seconds)

    def warm(self, lanes: Sequence[str]) -> None:
        """Start what a search with these lanes will need, and do not wait for it."""
        if self._apart(len(lanes)):
            self._processes().warm(*lanes)

    def close(self) -> None:
        """End the processes; a later search starts new ones."""
        if self._host is not None:
            self._host.close()

    def _apart(self, count: int) -> bool:
        isolation = self._settings.isolation
        return isolation == "always" or (isolation == "auto" and count > 1)

    def _processes(self) -> LaneHost:
        with self._lock:  # threads whose first searches come at once share the processes
            if self._host is None:
                from dowse.search.lanes.host import LaneHost, WorkerSpec

                self._host = LaneHost(WorkerSpec(self._address, self._settings))
            return self._host
