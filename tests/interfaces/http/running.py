"""A real server on a free port, in a thread of the test's process."""

from __future__ import annotations

import contextlib
import gc
import json
import socket
import threading
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import httpx

from dowse import Index
from dowse.interfaces.http.app import create_app
from dowse.interfaces.http.state import ServerState
from dowse.services.web.options import ServeOptions
from dowse.services.web.server import create_server


@dataclass(frozen=True)
class Running:
    """A server and a client of it."""

    client: httpx.Client
    url: str
    state: ServerState

    def get(self, address: str, status: int = 200, **parameters: Any) -> Any:
        """Ask the API, check the status, return the JSON."""
        return checked(self.client.get(f"/api/v1/{address}", params=parameters), status)

    def post(self, address: str, body: object, status: int) -> Any:
        """Send something to the API."""
        return checked(self.client.post(f"/api/v1/{address}", json=body), status)

    def events(self, wanted: str, said: str = "") -> list[dict[str, Any]]:
        """Listen until something of a phase is told, with some words; return all that was heard."""
        heard: list[dict[str, Any]] = []
        with self.client.stream("GET", "/api/v1/events", timeout=120) as stream:
            for line in stream.iter_lines():
                assert not line.startswith(":"), f"nothing more happens after {heard}"
                if not line.startswith("data: "):
                    continue
                heard.append(json.loads(line.removeprefix("data: ")))
                if heard[-1]["phase"] == wanted and said in heard[-1]["detail"]:
                    return heard
        raise AssertionError(f"the stream ended after {heard}")


def checked(answer: httpx.Response, status: int) -> Any:
    """Return the JSON of an answer that has the status; errors must be problems."""
    assert answer.status_code == status, answer.text
    if status >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        problem = answer.json()
        assert problem["status"] == status and problem["title"] and problem["remedy"], problem
        assert "Traceback" not in answer.text
    return answer.json()


@contextlib.contextmanager
def running(indexes: Sequence[Index], options: ServeOptions | None = None) -> Iterator[Running]:
    """Run a server; connections wait until it is ready, so nobody needs to."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    options = replace(options or ServeOptions(), port=port)
    app = create_app(indexes, options)
    server = create_server(app, options.limits)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    url = f"http://127.0.0.1:{port}"
    try:
        with httpx.Client(base_url=url, timeout=120) as client:
            yield Running(client, url, app.state.server)
    finally:
        app.state.server.broker.close()
        server.should_exit = True
        thread.join(120)
        listening.close()
        assert not thread.is_alive()
        # A connection that was cut is closed by the collector, with a warning that would fail another test.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
