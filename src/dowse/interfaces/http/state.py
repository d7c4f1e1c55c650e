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
from dowse.services.events import EventBroker
from dowse.services.indexes import Place, Places
from dowse.services.refresher import IndexRefresher
from dowse.services.reports import Reports

# Where `dowse eval --report` is told to write by people who want to see it on the page.
_REPORTS = Path(".dowse", "reports")


@dataclass(frozen=True, slots=True)
class ServerState:
    """The parts of a running server."""

    options: ServeOptions
    places: Places
    workers: Workers
    broker: EventBroker
    refresher: IndexRefresher
    metrics: Metrics
    reports: Reports
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, indexes: Sequence[Index], options: ServeOptions) -> ServerState:
        """Put the parts together; nothing runs yet."""
        places, workers = Places(indexes), Workers(options.limits)
        broker = EventBroker(options.limits.listeners)
        reports = Reports(options.reports, [(index.root, index.root / _REPORTS) for index in indexes])
        parts = (IndexRefresher(places, broker, watch=options.watch), Metrics(places, workers), reports)
        return cls(options, places, workers, broker, *parts)

    def records(self, place: Place) -> bool:
        """Whether choices are recorded for an index, and count."""
        return self.options.feedback and place.index.settings.feedback

    def close(self) -> None:
        """End everything that was started."""
        self.broker.close()
        self.refresher.close()
        self.workers.close()
        self.places.close()


def _state(request: Request) -> ServerState:
    state: ServerState = request.app.state.server
    return state


State = Annotated[ServerState, Depends(_state)]
