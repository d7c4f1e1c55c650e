"""Run the server until Ctrl-C."""

from __future__ import annotations

import contextlib
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import quote

from dowse.index import Index
from dowse.interfaces.daemon.server import DaemonServer
from dowse.interfaces.http.app import create_app
from dowse.interfaces.http.state import ServerState
from dowse.services.web.options import ServeOptions
from dowse.services.web.server import create_server, listen


def serve(indexes: Sequence[Index], options: ServeOptions, *, open_page: bool = False) -> None:
    """Answer requests until the process gets a signal."""
    listening = listen(options.host, options.port)
    options = replace(options, port=listening.getsockname()[1])
    address = url(options)
    sys.stdout.write(f"dowse answers at {address}\n")
    sys.stdout.flush()
    if open_page:
        webbrowser.open(address)
    app = create_app(indexes, options)
    state: ServerState = app.state.server
    watchers = state.refresher.watchers
    warm = DaemonServer(indexes, list(watchers or ()))
    server = create_server(app, options.limits)
    server.on_exit = state.broker.close  # streams of events never end by themselves
    server.on_shutdown = warm.stop
    warm.start()
    # Ctrl-C is how this ends: the server has cleaned up before the signal comes through.
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


def url(options: ServeOptions) -> str:
    """Return the URL of the page."""
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(options.host, options.host)  # noqa: S104 - shown only
    host = f"[{host}]" if ":" in host and not host.startswith("[") else host
    token = f"?token={quote(options.token, safe='')}" if options.token else ""
    return f"http://{host}:{options.port}/{token}"
