"""The FastAPI application of some indexes, and the server that runs it."""

from __future__ import annotations

import contextlib
import secrets
import signal
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator, Sequence
from urllib.parse import quote

from fastapi import APIRouter, FastAPI

from dowse.index import Index
from dowse.interfaces.http.middleware import Guard
from dowse.interfaces.http.openapi import add_openapi
from dowse.interfaces.http.problems import Problem, add_handlers
from dowse.interfaces.http.routes import evaluation, feedback, log, probes, search, status, symbol
from dowse.interfaces.http.state import ServerState
from dowse.interfaces.http.static_page import add_page
from dowse.lazy_classes import replace
from dowse.services.web.options import WITHOUT_TOKEN, ServeOptions
from dowse.services.web.server import create_server, listen
from dowse.version import __version__

_ROUTES = (search, symbol, log, evaluation, status, feedback)


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
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.server = state
    api = APIRouter(prefix="/api/v1", responses={"4XX": {"model": Problem}})
    for route in _ROUTES:
        api.include_router(route.router)
    app.include_router(api)
    app.include_router(probes.router)
    add_page(app)
    add_handlers(app)
    add_openapi(app, needs_token=bool(options.token))
    app.add_middleware(Guard, options=options, metrics=state.metrics)
    return app


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Start the background threads, and stop them."""
    state: ServerState = app.state.server
    for served in state.indexes:
        state.engine.add(served, state.broker)
    threading.Thread(target=state.reports.all, name="dowse-reports", daemon=True).start()
    try:
        yield
    finally:
        state.close()


def serve(
    indexes: Sequence[Index],
    options: ServeOptions,
    *,
    open_page: bool = False,
) -> None:
    """Answer requests until the process gets a signal."""
    listening = listen(options.host, options.port)
    options = replace(options, port=listening.getsockname()[1])
    if open_page and options.token:
        # Other users see the command line of the browser, so the token may not be in it.
        options = replace(options, opening_code=secrets.token_urlsafe())

    def announce() -> None:
        sys.stdout.write(f"dowse answers at {url(options, options.token if options.show_token else '')}\n")
        if not options.token:
            sys.stdout.write(f"{WITHOUT_TOKEN}, and delete feedback\n")
        sys.stdout.flush()
        if open_page:
            # In a thread: a browser in the terminal returns when it is closed.
            address = url(options, options.opening_code)
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    app = create_app(indexes, options)
    state: ServerState = app.state.server
    # Streams of events never end by themselves.
    server = create_server(app, options.limits, announce, state.broker.close)
    # Ctrl-C and SIGTERM are how this ends: the server has cleaned up before the signal comes through.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


def url(options: ServeOptions, token: str) -> str:
    """Return the URL of the page, with a token or without."""
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(options.host, options.host)  # noqa: S104 - shown only
    host = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return f"http://{host}:{options.port}/" + (f"?token={quote(token, safe='')}" if token else "")
