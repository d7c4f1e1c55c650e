"""`dowse serve` under load: many clients at once over loopback, each with one question at a time.

    python bench/serve_load.py --data DIR [--clients 50] [--seconds 60] [--out bench/results/serve_load.json]

`--data` holds the set csn-python (13,000 functions, BEIR layout). The server is the real command with its
usual settings and limits; the clients run in this process, so they share the machine's cores with it. Every
question goes through all that a search does: plan, keyword and embedding lanes, fusion, signals, explanation,
JSON. An answer counts as an error if it is no 200 or has no hits, as partial if a lane was left out. What was
asked in the first seconds, while everything gets warm, does not count.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit

from serving import memory_megabytes, serving, wait_until_indexed

from common import beside_python, work_folder, write_results
from quality import beir_cases, plain

_WARM_SECONDS = 5.0


@dataclass
class Tally:
    """What one client saw."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    partial: int = 0


def main() -> None:
    """Run server and clients, and write what came out."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--encoder", default="base")
    parser.add_argument("--dowse", type=Path, default=beside_python())
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    corpus = options.data / "csn-python"
    questions = [plain(case.query) for case in beir_cases(corpus, "queries")]
    with work_folder(options.work) as work:
        server = serving(
            corpus, options.encoder, work, "--no-feedback", dowse=options.dowse, DOWSE_STRIP_DOCS="1"
        )
        with server as (process, url):
            functions = wait_until_indexed(url)
            alone = load(url, questions, 1, 10.0)
            crowd = load(url, questions, options.clients, options.seconds)
            memory = round(memory_megabytes(process.pid))
    results = {
        "functions": functions,
        "encoder": options.encoder,
        "clients": options.clients,
        "seconds": options.seconds,
        "one client": alone,
        f"{options.clients} clients": crowd,
        "server memory, MB": memory,
    }
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def load(url: str, questions: Sequence[str], clients: int, seconds: float) -> dict[str, object]:
    """Have clients ask for so long; return times and what went wrong."""
    tallies = [Tally() for _ in range(clients)]
    begin = time.perf_counter() + _WARM_SECONDS
    threads = [
        threading.Thread(target=_client, args=(url, questions, number, begin, seconds, tally))
        for number, tally in enumerate(tallies)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times = sorted(taken for tally in tallies for taken in tally.seconds)
    errors = [error for tally in tallies for error in tally.errors]
    at = {name: times[min(len(times) - 1, int(share * len(times)))] for name, share in _SHARES.items()}
    return {
        "answers": len(times),
        "errors": len(errors),
        "first errors": errors[:3],
        "partial answers": sum(tally.partial for tally in tallies),
        "answers a second": round(len(times) / seconds, 1),
        **{name: round(1000 * value, 1) for name, value in at.items()},
        "p99 : p50": round(at["p99_ms"] / at["p50_ms"], 2),
    }


_SHARES = {"p50_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99, "max_ms": 1.0}


def _client(
    url: str, questions: Sequence[str], number: int, begin: float, seconds: float, tally: Tally
) -> None:
    """Ask one question after another, in an order of its own, over one connection."""
    place, draw = urlsplit(url), random.Random(number)
    line = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
    while (started := time.perf_counter()) < begin + seconds:
        question = draw.choice(questions)
        problem, partial = _asked(line, question)
        if started < begin:
            continue
        tally.seconds.append(time.perf_counter() - started)
        tally.partial += partial
        if problem:
            tally.errors.append(problem)
    line.close()


def _asked(line: http.client.HTTPConnection, question: str) -> tuple[str, bool]:
    """Ask once; return what is wrong with the answer, and whether a lane was left out."""
    try:
        line.request("GET", f"/api/search?k=10&plain=true&q={quote(question)}")
        response = line.getresponse()
        body = response.read()
    except (OSError, http.client.HTTPException) as error:
        line.close()
        return repr(error), False
    if response.status != 200:
        return f"{response.status} {body[:200].decode()}", False
    answer = json.loads(body)
    return "" if answer["hits"] else "no hits", any(lane["problem"] for lane in answer["lanes"])


if __name__ == "__main__":
    main()
