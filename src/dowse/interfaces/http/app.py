"""The application: indexes and options in, one ASGI app out."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import AsyncIterator, Sequence

from fastapi import APIRouter, FastAPI

from dowse.index import Index
from dowse.interfaces.http.middleware import Guard
from dowse.interfaces.http.models.problem import Problem
from dowse.interfaces.http.openapi import add_openapi
from dowse.interfaces.http.options import ServeOptions
from dowse.interfaces.http.problems import add_handlers
from dowse.interfaces.http.routes import (
    docs,
    evaluation,
    events,
    feedback,
    graph,
    health,
    metrics,
    related,
    search,
    status,
    suggest,
    symbol,
)
from dowse.interfaces.http.state import ServerState
from dowse.interfaces.http.static_page import add_page
from dowse.version import __version__

_ROUTES = (
    *(search, symbol, graph, related, suggest, evaluation, status, events, feedback),
    *(health, metrics, docs),
)


def create_app(indexes: Sequence[Index], options: ServeOptions | None = None) -> FastAPI:
    """Return the app that answers from some indexes.

    Args:
        indexes: What to search; those that are missing or old are brought up to date in the background.
        options: How the server behaves.
    """
    options = options or ServeOptions()
    state = ServerState.of(indexes, options)
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
    """Start what runs beside the requests, and end it."""
    state: ServerState = app.state.server
    state.refresher.start()
    threading.Thread(target=state.reports.read_shipped, name="dowse-reports", daemon=True).start()
    try:
        yield
    finally:
        state.close()
