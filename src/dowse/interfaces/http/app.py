"""The FastAPI application of some indexes."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import AsyncIterator, Sequence

from fastapi import APIRouter, FastAPI

from dowse.index import Index
from dowse.interfaces.http.middleware import Guard
from dowse.interfaces.http.openapi import add_openapi
from dowse.interfaces.http.problems import add_handlers
from dowse.interfaces.http.routes import (
    docs,
    evaluation,
    events,
    feedback,
    graph,
    search,
    status,
    suggest,
    symbol,
)
from dowse.interfaces.http.state import ServerState
from dowse.interfaces.http.static_page import add_page
from dowse.services.models.problem import Problem
from dowse.services.web.options import ServeOptions
from dowse.version import __version__

_ROUTES = (search, symbol, graph, suggest, evaluation, status, events, feedback, docs)


def create_app(indexes: Sequence[Index], options: ServeOptions | None = None) -> FastAPI:
    """Return the application that serves some indexes.

    Args:
        indexes: The indexes; missing and stale ones are updated in the background.
        options: The options of the server.
    """
    options = options or ServeOptions()
    state = ServerState.create(indexes, options)
    app = FastAPI(
        title="dowse",
        description="Find code by what it does.",
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.server = state
    api = APIRouter(prefix="/api", responses={"4XX": {"model": Problem}})
    for route in _ROUTES:
        api.include_router(route.router)
    app.include_router(api)
    add_page(app)
    add_handlers(app)
    add_openapi(app)
    app.add_middleware(Guard, options=options, metrics=state.metrics)
    return app


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Start the background threads, and stop them."""
    state: ServerState = app.state.server
    state.refresher.start()
    threading.Thread(target=state.reports.read_shipped, name="dowse-reports", daemon=True).start()
    try:
        yield
    finally:
        state.close()
