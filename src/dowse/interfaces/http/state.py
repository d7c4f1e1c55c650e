"""The state that the routes share."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from dowse.index import Index
from dowse.interfaces.http.metrics import Metrics
from dowse.services.events import EventBroker
from dowse.services.indexes import ServedIndex, ServedIndexes
from dowse.services.refresher import IndexRefresher
from dowse.services.reports import Reports
from dowse.services.thread_pool import BoundedThreadPool
from dowse.services.web.options import ServeOptions

# Where users put reports of `dowse eval --report` that the page shall show.
_REPORTS = Path(".dowse", "reports")


@dataclass(frozen=True, slots=True)
class ServerState:
    """The parts of a running server."""

    options: ServeOptions
    indexes: ServedIndexes
    threads: BoundedThreadPool
    broker: EventBroker
    refresher: IndexRefresher
    metrics: Metrics
    reports: Reports
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def create(cls, indexes: Sequence[Index], options: ServeOptions) -> ServerState:
        """Create the parts; nothing runs yet."""
        served, threads = ServedIndexes.create(indexes), BoundedThreadPool(options.limits)
        broker = EventBroker(options.limits.listeners)
        return cls(
            options,
            served,
            threads,
            broker,
            IndexRefresher(served, broker, watch=options.watch),
            Metrics(served, threads),
            Reports(options.reports, [(index.root, index.root / _REPORTS) for index in indexes]),
        )

    def records_feedback(self, served: ServedIndex) -> bool:
        """Whether feedback is recorded for an index and affects its rankings."""
        return self.options.feedback and served.index.settings.feedback

    def close(self) -> None:
        """Stop everything."""
        self.broker.close()
        self.refresher.close()
        self.threads.close()
        self.indexes.close()


def _state(request: Request) -> ServerState:
    state: ServerState = request.app.state.server
    return state


State = Annotated[ServerState, Depends(_state)]
