"""A fault-injecting HTTP proxy between dowse and a cluster: it passes, refuses, loses or delays requests."""

from __future__ import annotations

import contextlib
import http.client
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# For method and path, the fate of a request: "pass", "lose" its response, "delay" it until the proxy ends
# (the client sees a lost connection), or a status to refuse it with.
Rule = Callable[[str, str], str | int]


_REFUSAL = b'{"error":{"type":"refused","reason":"as the test wants"}}'


@contextlib.contextmanager
def fault_proxy(rule: Rule, upstream: str = "", refusal: bytes = _REFUSAL) -> Iterator[str]:
    """Serve at an address, `host:port`; requests that pass go to the cluster upstream."""
    delayed: list[Callable[[], object]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one_request(self) -> None:
            with contextlib.suppress(ConnectionError):
                super().handle_one_request()

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            fault = rule(self.command, self.path)
            if isinstance(fault, int):
                self._answer(fault, refusal, {})
                return
            headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
            request = partial(_forward, upstream, self.command, self.path, body, headers)
            if fault == "delay":
                delayed.append(request)
            else:
                status, data, kind = request()
            if fault in ("lose", "delay"):
                self.close_connection = True
                self.connection.close()
                return
            self._answer(status, data, {"Content-Type": kind})

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _serve

        def _answer(self, status: int, data: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("X-Elastic-Product", "Elasticsearch")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        for request in delayed:
            request()


def _forward(
    upstream: str, method: str, path: str, body: bytes, headers: dict[str, str]
) -> tuple[int, bytes, str]:
    """Send a request to the cluster; return the status, the body and its type."""
    connection = http.client.HTTPConnection(upstream, timeout=300)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, data, answer.getheader("Content-Type") or ""
