"""What the routes share: the state of the server, parameters, and the thread pool."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from typing import Annotated, Any

from fastapi import Depends, Query, Request

from dowse.index import Index
from dowse.interfaces.http.metrics import Metrics
from dowse.json_form import to_json
from dowse.lazy_classes import dataclass, field
from dowse.services.engine import Engine
from dowse.services.events import EventBroker
from dowse.services.indexes import ServedIndex, ServedIndexes
from dowse.services.reports import Reports
from dowse.services.thread_pool import BoundedThreadPool
from dowse.services.web.options import ServeOptions


@dataclass(frozen=True, slots=True)
class ServerState:
    """The parts of a running server."""

    options: ServeOptions
    indexes: ServedIndexes
    threads: BoundedThreadPool
    slow_threads: BoundedThreadPool  # of requests that may take seconds
    broker: EventBroker
    engine: Engine
    metrics: Metrics
    reports: Reports
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def create(cls, indexes: Sequence[Index], options: ServeOptions) -> ServerState:
        """Create the parts; nothing runs yet."""
        limits, served = options.limits, ServedIndexes.create(indexes)
        threads, slow_threads = BoundedThreadPool(limits), BoundedThreadPool(limits, limits.slow_threads)
        broker = EventBroker(limits.listeners)
        return cls(
            options,
            served,
            threads,
            slow_threads,
            broker,
            Engine(watch=options.watch),
            Metrics(served, (threads, slow_threads)),
            Reports(options.reports),
        )

    def records_feedback(self, served: ServedIndex) -> bool:
        """Whether feedback is recorded for an index and affects its rankings."""
        return self.options.feedback and served.index.settings.feedback

    def close(self) -> None:
        """Stop everything."""
        self.broker.close()
        self.engine.close()
        self.threads.close()
        self.slow_threads.close()
        self.indexes.close()


def _state(request: Request) -> ServerState:
    state: ServerState = request.app.state.server
    return state


State = Annotated[ServerState, Depends(_state)]
IndexName = Annotated[str | None, Query(max_length=200, description="The name of an index; by default all.")]
Target = Annotated[
    str,
    Query(
        min_length=1,
        max_length=1_000,
        description="A symbol: its id, a location (`src/app.py:42`) or a name (`Class.method`).",
    ),
]


def in_thread(work: Callable[..., object]) -> Callable[..., Awaitable[Any]]:
    """Make a route of a blocking function: it runs in the thread pool, within the limits of that.

    What it returns is sent in its JSON form.
    """
    return _route(work, lambda state: state.threads)


def in_slow_thread(work: Callable[..., object]) -> Callable[..., Awaitable[Any]]:
    """Make a route of a function that may take seconds: it runs in the pool of those."""
    return _route(work, lambda state: state.slow_threads)


def _route(
    work: Callable[..., object], pool: Callable[[ServerState], BoundedThreadPool]
) -> Callable[..., Awaitable[Any]]:
    @wraps(work)
    async def route(state: ServerState, **parameters: Any) -> Any:  # noqa: ANN401 - as of the function
        return await pool(state).run(lambda: to_json(work(state, **parameters)))

    return route
