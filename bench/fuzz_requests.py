"""Fuzz `dowse serve`: random HTTP requests to a real server, by some clients at once.

    python bench/fuzz_requests.py [--count 100000] [--clients 8] [--seed 0] [--tree DIR]
        [--out FILE]

Requests are drawn from the OpenAPI document (known and unknown parameters, values of all kinds), damaged byte
by byte, cut off, or pure noise; methods, headers, cookies and bodies are drawn, too. Counts responses of 500,
tracebacks in the server's log, responses that take longer than the server's limit of 20 s and two more, and
connections that hang; all must be 0. At the end the server must answer, with as many open files as before.
Words only: no encoder. `reindex` is asked for rarely: it starts real work.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, urlsplit

from fuzz_texts import QueryFuzzer
from load_mixed import symbol_names
from processes import family_megabytes
from serving import serving, wait_until_indexed

from common import percentile, work_folder, write_results

_ROOT = Path(__file__).resolve().parents[1]
# The limit of a request, and of its headers and body, with some slack.
_DEADLINE, _SLACK = 20.0, 2.0
_MAX_SHOWN = 20
_HEADERS = [
    ("Host", ["localhost", "127.0.0.1", "evil.example", "", "[::1]:80", "a" * 300, "localhost\u00e9"]),
    ("Origin", ["http://localhost", "https://evil.example", "null", "", "\xff"]),
    ("Cookie", ["a=b", "dowse_1=x; ; =; a", "=" * 500, "dowse_8742=" + "0" * 64]),
    ("Authorization", ["Bearer x", "Bearer", "Basic eDp5", "\xe9"]),
    ("Sec-Fetch-Site", ["cross-site", "same-origin", "x"]),
    ("Accept-Encoding", ["gzip", "br;q=nan", "*"]),
    ("Range", ["bytes=0-", "bytes=9-1", "x"]),
    ("If-None-Match", ['"x"', "*"]),
    ("Transfer-Encoding", ["gzip", "identity"]),
    ("Expect", ["100-continue", "x"]),
    ("X-Long", ["x" * 60_000]),
]


def main() -> None:
    """Run server and clients, and write what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tree", type=Path, default=_ROOT / "tests" / "data" / "sample")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with (
        work_folder(options.work) as work,
        serving(options.tree, "none", work) as (process, url),
    ):
        wait_until_indexed(url)
        names, document = symbol_names(url), _get(url, "/api/v1/openapi.json")
        memory, files = family_megabytes(process.pid), _open_files(process.pid)
        each = -(-options.count // options.clients)
        clients = [
            _Client(url, document, names, options.seed * 1_000 + number, each)
            for number in range(options.clients)
        ]
        started = time.monotonic()
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        seconds = time.monotonic() - started
        alive = _get(url, "/api/v1/health")["status"] == "ok" and process.poll() is None
        end_memory, end_files = family_megabytes(process.pid), _open_files(process.pid)
        log = (work / "log.txt").read_text(errors="replace")
    times = [taken for client in clients for taken in client.seconds]
    outcomes = sum((client.outcomes for client in clients), Counter[str]())
    results: dict[str, object] = {
        "requests": sum(outcomes.values()),
        "outcomes": dict(sorted(outcomes.items())),
        "500": outcomes["500"],
        "tracebacks in the log": log.count("Traceback"),
        "beyond the deadline": sum(taken > _DEADLINE + _SLACK for taken in times),
        "hangs": outcomes["hang"],
        "server alive": alive,
        "p50_ms": round(1000 * percentile(times, 0.5), 1),
        "p99_ms": round(1000 * percentile(times, 0.99), 1),
        "max_ms": round(1000 * max(times)),
        "requests a second": round(sum(outcomes.values()) / seconds),
        "open files before and after": [files, end_files],
        "memory before and after, MB": [round(memory), round(end_memory)],
        "log, bytes": len(log),
        "problems": [each for client in clients for each in client.problems][:_MAX_SHOWN],
    }
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def _get(url: str, path: str) -> dict[str, object]:
    place = urlsplit(url)
    line = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
    line.request("GET", path)
    body: dict[str, object] = json.load(line.getresponse())
    line.close()
    return body


def _open_files(pid: int) -> int:
    folder = Path(f"/proc/{pid}/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


class _Client(threading.Thread):
    """One client: it sends a request, and waits for the response or the end of the connection."""

    def __init__(
        self, url: str, document: dict[str, object], names: tuple[str, ...], seed: int, count: int
    ) -> None:
        super().__init__()
        place = urlsplit(url)
        self._place = (place.hostname or "", place.port or 80)
        self._draw, self._fuzzer, self._count = random.Random(seed), QueryFuzzer(names, seed), count
        self._operations = [
            (path, method, [each["name"] for each in operation.get("parameters", ())])
            for path, item in document["paths"].items()  # type: ignore[attr-defined]
            for method, operation in item.items()
            if path != "/api/v1/events"
        ]
        self.outcomes: Counter[str] = Counter()
        self.seconds: list[float] = []
        self.problems: list[str] = []

    def run(self) -> None:
        """Send all requests."""
        kinds: list[Callable[[], bytes]] = [*[self._request] * 16, *[self._damaged] * 4, self._noise]
        for _ in range(self._count):
            request = self._draw.choice(kinds)()
            started = time.monotonic()
            outcome = self._send(request)
            self.seconds.append(time.monotonic() - started)
            self.outcomes[outcome] += 1
            if outcome in ("500", "hang") or self.seconds[-1] > _DEADLINE + _SLACK:
                self.problems.append(f"{outcome} after {self.seconds[-1]:.1f} s: {request[:300]!r}")

    def _send(self, request: bytes) -> str:
        """Send a request; return the status of the response, or how the connection ended."""
        is_cut = self._draw.randrange(20) == 0
        if is_cut:
            request = request[: self._draw.randrange(len(request) + 1)]
        try:
            with socket.create_connection(self._place, timeout=_DEADLINE + 10) as line:
                with contextlib.suppress(ConnectionError):
                    line.sendall(request)
                if is_cut:
                    return "gone"  # whoever does not wait for the response
                response = http.client.HTTPResponse(line)
                response.begin()
                response.read()
                return str(response.status)
        except TimeoutError:
            return "hang"
        except (ConnectionError, http.client.HTTPException):
            return "closed"

    def _request(self) -> bytes:
        template, method, names = self._draw.choice(self._operations)
        if template == "/api/v1/reindex" and self._draw.randrange(200):
            template, method = "/api/v1/search", "get"
        path = template
        while "{" in path:
            head, _, tail = path.partition("{")
            known = self._draw.choice(["callers", "impact", "uses", self._value("path")])
            path = head + known + tail.partition("}")[2]
        if self._draw.randrange(10) == 0:
            method = self._draw.choice(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "BREW"])
        chosen = [name for name in names if name in ("q", "target", "to") or self._draw.randrange(6) == 0]
        if self._draw.randrange(10) == 0:
            chosen.append(self._draw.choice(["k", "x", "", "q", "index", "depth"]))
        pairs = [f"{name}={self._value(name)}" for name in chosen]
        target = path + ("?" + "&".join(pairs) if pairs else "")
        body = self._body() if method.lower() in ("post", "put", "delete", "patch") else b""
        return self._message(method.upper(), target, body)

    def _value(self, name: str) -> str:
        if name in ("q", "filters", "query"):
            text = self._fuzzer.query()[: self._draw.choice([50, 500, 12_000])]
        elif name in ("target", "to", "symbol", "path"):
            text = self._draw.choice([self._fuzzer.query()[:60], "src/bakery/orders.py:12", "Oven", "0" * 16])
        else:
            options = self._fuzzer.options()
            known = ["0", "1", "10", "-1", "1e9", "true", "false", "", "nan", "99999999999999999999", "\x00"]
            text = str(options.get(name, self._draw.choice(known)))
        return quote(text.encode("utf-8", "surrogatepass"), safe="" if self._draw.randrange(5) else "/:?,")

    def _body(self) -> bytes:
        query, kinds = self._fuzzer.query()[:300], ["click", "open", "good", "bad", "x"]
        body: object = self._draw.choice(
            [
                {"query": query, "symbol": "0" * 16, "kind": self._draw.choice(kinds), "rank": 1},
                {"index": None, "rebuild": False},
                {"index": query},
                [],
                None,
                query,
                {"query": [query] * 50},
                1e308,
            ]
        )
        data = json.dumps(body).encode()
        return data if self._draw.randrange(5) else self._mutate(data)

    def _message(self, method: str, target: str, body: bytes) -> bytes:
        headers = [("Host", f"127.0.0.1:{self._place[1]}"), ("Connection", "close")]
        if body:
            headers += [("Content-Length", str(len(body))), ("Content-Type", "application/json")]
        for _ in range(self._draw.choice([0, 0, 0, 1, 3])):
            name, values = self._draw.choice(_HEADERS)
            headers.append((name, self._draw.choice(values)))
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers).encode("latin-1", "replace")
        return f"{method} {target} HTTP/1.1\r\n".encode("latin-1", "replace") + lines + b"\r\n" + body

    def _damaged(self) -> bytes:
        """Return a request with some bytes changed; its end stays, so that the server need not wait."""
        head, end, body = self._request().partition(b"\r\n\r\n")
        return self._mutate(head) + end + body

    def _mutate(self, data: bytes) -> bytes:
        changed = bytearray(data)
        for _ in range(self._draw.choice([1, 1, 3, 20])):
            at = self._draw.randrange(len(changed) + 1)
            changed[at : at + self._draw.randrange(4)] = self._draw.randbytes(self._draw.randrange(4))
        return bytes(changed)

    def _noise(self) -> bytes:
        return self._draw.randbytes(self._draw.choice([1, 10, 1_000, 100_000])) + b"\r\n\r\n"


if __name__ == "__main__":
    main()
