"""`dowse serve` under mixed load and faults: does every client get its answer, and is nobody starved?

    python bench/load_mixed.py [--tree DIR] [--clients 200] [--seconds 300] [--slow-heads 500]
        [--encoder base] [--out FILE]

A client is a thread (50 to a process) with an address of its own (127.1.x.y, on Linux), and one question at a
time over one connection: it asks, waits for the answer however long that takes, and asks the next question at
once, so the machine is saturated. A refused one (503) is counted, and followed by the pause that
`Retry-After` asks for. A connection that was closed while idle is opened again, once, as HTTP clients do.
95 % of the questions are words about the code, the others take long: patterns without trigrams, `impact` in
the call graph, query expansion. Beside them, some connections (`--slow-heads`, one address) send the headers
of a request byte by byte and never finish; one that is dropped comes back. Every `--kill-every` seconds a
lane's process is killed.

Reported: the share of questions that were refused, percentiles of the time to an answer (all, quick, slow)
and the memory of the server with its processes: the median of each minute, and how far those after the first
minute are from the second.
Clients and server share the machine; its cores are named in the result.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from urllib.parse import quote, urlsplit

from processes import descendants, family_megabytes
from serving import serving, wait_until_indexed

from common import percentile, work_folder, write_results

_ROOT = Path(__file__).resolve().parents[1]
_WARM_SECONDS = 10.0
_SLOW_SHARE = 0.05
# Seconds after which a client gives up: longer than the server's own limit.
_PATIENCE = 60.0
_CLIENTS_PER_PROCESS = 50
# Of names that most trees have.
_NAME_STARTS = "ad ba ca ch co cr de fi ge in is li lo ma op or pa pr re ru sa se st te to up va wr".split()
_SLOW_PATTERNS = ["/./", "/[a-z]*/i", r"/\d+ *[a-z]?\d{6}/", "/(x+x+)+y/", "/.*/ lang:python", r"/\s$/"]


@dataclass
class Tally:
    """What one client saw."""

    quick: list[float] = field(default_factory=list)
    slow: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)  # quick questions, slow ones
    partial: int = 0
    reopened: int = 0


@dataclass(frozen=True)
class Load:
    """What clients do."""

    url: str
    names: tuple[str, ...]
    begin: float  # of `time.time`: what is asked before does not count
    end: float


def main() -> None:
    """Run server and clients, and write what came out."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, default=_ROOT / "src")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--slow-heads", type=int, default=500)
    parser.add_argument("--kill-every", type=float, default=10.0)
    parser.add_argument("--encoder", default="base")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with (
        work_folder(options.work) as work,
        serving(options.tree, options.encoder, work, "--no-feedback") as (process, url),
    ):
        wait_until_indexed(url)
        results = _run(options, process, url)
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def _run(options: argparse.Namespace, process: subprocess.Popen[str], url: str) -> dict[str, object]:
    names, before = symbol_names(url), os.getloadavg()[0]
    begin = time.time() + min(_WARM_SECONDS, options.seconds)
    load = Load(url, names, begin, begin + options.seconds)
    shares = _shares(options.clients)
    memory: dict[int, list[float]] = {}  # the samples of each minute
    killed: Counter[str] = Counter()
    stop = threading.Event()
    faults = [
        threading.Thread(target=_hold_heads, args=(url, options.slow_heads, stop)),
        threading.Thread(target=_kill_lanes, args=(process.pid, options.kill_every, stop, killed)),
        threading.Thread(target=_watch_memory, args=(process.pid, load, memory, stop)),
    ]
    with get_context("spawn").Pool(len(shares)) as pool:
        running = pool.starmap_async(run_clients, [(load, share) for share in shares])
        for each in faults:
            each.start()
        tallies = [tally for part in running.get() for tally in part]
    alive = process.poll() is None
    stop.set()
    for each in faults:
        each.join()
    statuses = sum((tally.statuses for tally in tallies), Counter[str]())
    quick = [each for tally in tallies for each in tally.quick]
    slow = [each for tally in tallies for each in tally.slow]
    asked, refused = sum(statuses.values()), statuses["503"]
    answered = [len(tally.quick) + len(tally.slow) for tally in tallies]
    minutes = [median(samples) for _, samples in sorted(memory.items())]
    later = minutes[1:] or minutes
    return {
        "clients": options.clients,
        "seconds": options.seconds,
        "slow-header clients": options.slow_heads,
        "encoder": options.encoder,
        "symbols": len(names),
        "load average of the machine before": round(before, 1),
        "lanes killed": dict(killed),
        "questions": asked,
        "answers a second": round((len(quick) + len(slow)) / options.seconds, 1),
        "statuses": dict(sorted(statuses.items())),
        "refused": f"{refused / max(1, asked):.2%}",
        "refused by kind": dict(sum((tally.refused for tally in tallies), Counter[str]())),
        "answers with a lane left out": sum(tally.partial for tally in tallies),
        "connections reopened": sum(tally.reopened for tally in tallies),
        "answers of a client, least and most": [min(answered), max(answered)],
        "all": _percentiles([*quick, *slow]),
        "quick": _percentiles(quick),
        "slow": _percentiles(slow),
        "memory each minute, MB": [round(each) for each in minutes],
        "memory after the first minute": [f"{each / later[0] - 1:+.1%}" for each in (min(later), max(later))],
        "server alive": alive,
    }


def _shares(clients: int) -> list[range]:
    return [
        range(start, min(clients, start + _CLIENTS_PER_PROCESS))
        for start in range(0, clients, _CLIENTS_PER_PROCESS)
    ]


def _percentiles(seconds: Sequence[float]) -> dict[str, float]:
    if not seconds:
        return {}
    shares = {"p50_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99, "max_ms": 1.0}
    known = {name: round(1000 * percentile(seconds, share), 1) for name, share in shares.items()}
    return {"answers": len(seconds), **known, "p99 : p50": round(known["p99_ms"] / known["p50_ms"], 1)}


def symbol_names(url: str) -> tuple[str, ...]:
    """Return names of the index, for questions about the call graph."""
    place = urlsplit(url)
    line = http.client.HTTPConnection(place.hostname or "", place.port, timeout=_PATIENCE)
    names: set[str] = set()
    while not names:  # they are read in the background
        for start in _NAME_STARTS:
            line.request("GET", f"/api/v1/suggest?k=20&q={start}")
            found = json.load(line.getresponse())["suggestions"]
            names.update(each["text"] for each in found if re.fullmatch(r"\w+", each["text"]))
        time.sleep(0.1)
    line.close()
    return tuple(sorted(names))


def run_clients(load: Load, numbers: range) -> list[Tally]:
    """Run some clients in this process."""
    tallies = [Tally() for _ in numbers]
    threads = [
        threading.Thread(target=_run_client, args=(load, number, tally))
        for number, tally in zip(numbers, tallies, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tallies


def _run_client(load: Load, number: int, tally: Tally) -> None:
    place, draw = urlsplit(load.url), random.Random(number)
    line = http.client.HTTPConnection(
        place.hostname or "", place.port, timeout=_PATIENCE, source_address=_address(number)
    )
    while (asked_at := time.time()) < load.end:
        is_slow = draw.random() < _SLOW_SHARE
        path = _slow_question(draw, load.names) if is_slow else _question(draw, load.names)
        started = time.perf_counter()
        status, pause = _ask(line, path, tally)
        taken = time.perf_counter() - started
        if asked_at >= load.begin:
            tally.statuses[status] += 1
            tally.refused["slow" if is_slow else "quick"] += status == "503"
            if status == "200":
                (tally.slow if is_slow else tally.quick).append(taken)
        time.sleep(min(pause, max(0.0, load.end - time.time())))
    line.close()


def _address(number: int) -> tuple[str, int] | None:
    """Return an address of this machine for each client; only Linux has them all."""
    return (f"127.1.{number // 250}.{number % 250 + 1}", 0) if sys.platform == "linux" else None


def _ask(line: http.client.HTTPConnection, path: str, tally: Tally) -> tuple[str, float]:
    """Ask once, on a new connection if the old one was closed; return the status, and how long to pause."""
    for attempt in range(2):
        is_old = line.sock is not None
        try:
            line.request("GET", path)
            response = line.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException) as error:
            line.close()
            if is_old and not attempt and isinstance(error, ConnectionError | http.client.BadStatusLine):
                tally.reopened += 1
                continue
            return type(error).__name__, 1.0
        if response.status == 200 and b'"lanes"' in body:
            tally.partial += any(lane["problem"] for lane in json.loads(body).get("lanes", ()))
        return str(response.status), float(response.headers.get("Retry-After", 0))
    return "unreachable", 1.0


def _question(draw: random.Random, names: Sequence[str]) -> str:
    words = [word for name in draw.choices(names, k=3) for word in re.split(r"_|(?<=[a-z])(?=[A-Z])", name)]
    return f"/api/v1/search?k=10&q={quote(' '.join(filter(None, words)) or 'read a file')}"


def _slow_question(draw: random.Random, names: Sequence[str]) -> str:
    kind, name = draw.randrange(4), draw.choice(names)
    if kind == 0:
        return f"/api/v1/graph/impact?depth=10&k=1000&target={quote(name)}"
    if kind == 1:
        return f"/api/v1/search?expand=true&q={quote(name)}+how+does+it+work"
    return f"/api/v1/search?k=100&q={quote(draw.choice(_SLOW_PATTERNS))}"


def _hold_heads(url: str, count: int, stop: threading.Event) -> None:
    """Keep so many connections open that never finish their headers; reopen those that were dropped."""
    place = urlsplit(url)
    held: list[socket.socket] = []
    while not stop.is_set():
        alive = []
        for line in held:
            try:
                line.send(b"x")
                line.recv(1)
            except BlockingIOError:
                alive.append(line)
                continue
            except OSError:
                pass
            line.close()
        held = alive
        for _ in range(min(50, count - len(held))):  # a few each second
            with contextlib.suppress(OSError):
                line = socket.create_connection((place.hostname or "", place.port or 80), 5.0)
                line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
                line.setblocking(False)
                held.append(line)
        stop.wait(1.0)
    for line in held:
        line.close()


def _kill_lanes(pid: int, every: float, stop: threading.Event, killed: Counter[str]) -> None:
    """Kill one of the lanes' processes now and then."""
    draw = random.Random(1)
    while not stop.wait(every):
        lanes = lane_processes(pid)
        if lanes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(draw.choice(lanes), signal.SIGKILL)
                killed["processes"] += 1


def lane_processes(pid: int) -> list[int]:
    """Return the processes below a server that run lanes."""
    return [child for child in descendants(pid) if b"dowse.search.lanes.worker" in _command(child)]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _watch_memory(pid: int, load: Load, samples: dict[int, list[float]], stop: threading.Event) -> None:
    stop.wait(max(0.0, load.begin - time.time()))
    while (now := time.time()) < load.end:
        samples.setdefault(int(now - load.begin) // 60, []).append(family_megabytes(pid))
        if stop.wait(1.0):
            break


if __name__ == "__main__":
    main()
