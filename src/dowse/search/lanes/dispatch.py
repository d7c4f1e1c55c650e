"""Decides where lanes run: several in parallel, in processes of their own; one alone in this process."""

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


class LaneDispatcher:
    """Runs the lanes of one index as its setting `isolation` says.

    A search with one lane has no answer without it, and so nothing to gain from a process of its own.
    """

    def __init__(self, address: str, settings: Settings, encoder: Callable[[], Encoder | None]) -> None:
        self._address, self._settings = address, settings
        self._inline = InlineLanes(encoder)
        self._host: LaneHost | None = None
        self._lock = threading.Lock()

    def run(self, reader: Reader, jobs: Sequence[LaneJob], seconds: float) -> list[Outcome]:
        """Return the outcome of each job, in their order."""
        if not self._needs_processes(len(jobs)):
            return self._inline.run(reader, jobs, seconds)
        return self._lane_host().run(reader, jobs, seconds)

    def warm(self, lanes: Sequence[str]) -> None:
        """Start the processes that a search with these lanes will need, and do not wait for them."""
        if self._needs_processes(len(lanes)):
            self._lane_host().warm(*lanes)

    def close(self) -> None:
        """End the processes; a later search starts new ones."""
        if self._host is not None:
            self._host.close()

    def _needs_processes(self, count: int) -> bool:
        isolation = self._settings.isolation
        return isolation == "always" or (isolation == "auto" and count > 1)

    def _lane_host(self) -> LaneHost:
        with self._lock:  # threads whose first searches come together share the processes
            if self._host is None:
                from dowse.search.lanes.host import LaneHost

                self._host = LaneHost(self._address, self._settings)
            return self._host
