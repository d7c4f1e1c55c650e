"""Real git servers on loopback: `git daemon`, and `git http-backend` behind a small HTTP server."""

from __future__ import annotations

import base64
import os
import socketserver
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder as a committer, and return its output."""
    settings = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "protocol.file.allow=always"]
    done = subprocess.run(
        ["git", *settings, "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@contextmanager
def git_daemon(folder: Path) -> Iterator[str]:
    """Serve the repositories of a folder by `git daemon`; gives `git://127.0.0.1:PORT`."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            command = ["git", "daemon", "--inetd", "--export-all", f"--base-path={folder}"]
            subprocess.run(command, stdin=self.request, stdout=self.request, check=False)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        yield from _serve(server, "git")


@contextmanager
def git_http(folder: Path, login: str = "") -> Iterator[str]:
    """Serve the repositories of a folder by `git http-backend`; `login` is `user:password`, if required."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            expected = f"Basic {base64.b64encode(login.encode()).decode()}"
            if login and self.headers.get("Authorization") != expected:
                self.send_response(401)
                self.send_header("WWW-Authenticate", "Basic realm=git")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            length = int(self.headers.get("Content-Length") or 0)
            body = (
                self.rfile.read(length)
                if length
                else _chunks(self)
                if "Transfer-Encoding" in self.headers
                else b""
            )
            parts = urlsplit(self.path)
            environment = {
                **{"PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(folder), "GIT_HTTP_EXPORT_ALL": "1"},
                **{"REQUEST_METHOD": self.command, "PATH_INFO": parts.path, "QUERY_STRING": parts.query},
                **{"CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body))},
                **{"HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", "")},
                **{"GIT_PROTOCOL": self.headers.get("Git-Protocol", "")},
            }
            done = subprocess.run(
                ["git", "http-backend"], input=body, env=environment, capture_output=True, check=False
            )
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            headers = [line.partition(": ")[::2] for line in head.decode().split("\r\n")]
            self.send_response(int(dict(headers).get("Status", "200")[:3]))
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        yield from _serve(server, "http")


@contextmanager
def redirect(target: str) -> Iterator[tuple[str, list[str]]]:
    """Serve redirects to another server; gives the address, and the list of paths that were asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(302)
            self.send_header("Location", target + self.path)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        for address in _serve(server, "http"):
            yield address, asked


def _chunks(handler: BaseHTTPRequestHandler) -> bytes:
    body = b""
    while size := int(handler.rfile.readline(), 16):
        body += handler.rfile.read(size)
        handler.rfile.readline()
    return body


def _serve(server: socketserver.TCPServer, scheme: str) -> Iterator[str]:
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"{scheme}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
