"""What the routes share: one of each for a server."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from dowse.index import Index
from dowse.interfaces.http.metrics import Metrics
from dowse.interfaces.http.options import ServeOptions
from dowse.interfaces.http.worker_threads import Workers
from dowse.services.events import Hub
from dowse.services.indexes import Place, Places
from dowse.services.refresher import Keeper
from dowse.services.reports import Reports

# Where `dowse eval --report` is told to write by people who want to see it on the page.
_REPORTS = Path(".dowse", "reports")


@dataclass(frozen=True, slots=True)
class ServerState:
    """The parts of a running server."""

    options: ServeOptions
    places: Places
    workers: Workers
    hub: Hub
    keeper: Keeper
    metrics: Metrics
    reports: Reports
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, indexes: Sequence[Index], options: ServeOptions) -> ServerState:
        """Put the parts together; nothing runs yet."""
        places, hub, workers = Places(indexes), Hub(options.limits.listeners), Workers(options.limits)
        reports = Reports(options.reports, [(index.root, index.root / _REPORTS) for index in indexes])
        parts = (Keeper(places, hub, watch=options.watch), Metrics(places, workers), reports)
        return cls(options, places, workers, hub, *parts)

    def records(self, place: Place) -> bool:
        """Whether choices are recorded for an index, and count."""
        return self.options.feedback and place.index.settings.feedback

    def close(self) -> None:
        """End everything that was started."""
        self.hub.close()
        self.keeper.close()
        self.workers.close()
        self.places.close()


def _state(request: Request) -> ServerState:
    state: ServerState = request.app.state.server
    return state


State = Annotated[ServerState, Depends(_state)]
