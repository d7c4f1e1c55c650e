"""One of three nodes is killed (-9) while eight searchers ask and an index job runs.

Counted: searches that failed or came back without a lane, documents lost or doubled (against an undisturbed
index of the same sources), and how long searches took before and after the kill.

    python bench/cluster_kill.py DATA/csn-python REPOSITORY… --queries DATA/csn-python/queries.jsonl.gz
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from dowse import Index
from dowse.errors import DowseError
from dowse.storage.elastic.backend import ElasticBackend
from dowse.storage.elastic.names import VERSIONED
from storage.cluster import Nodes

from common import percentile, work_folder, write_results

SEARCHERS = 8
# Searches before the kill, and after it, are measured for so long at least.
BEFORE, AFTER = 20.0, 40.0
# What counts as "while it fails".
FAILING = 20.0


@dataclass
class Searches:
    """What became of all searches."""

    times: list[tuple[float, float]] = field(default_factory=list)  # (when it began, seconds)
    failed: list[str] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)

    def between(self, first: float, last: float) -> list[float]:
        """Return the times of searches that were under way at some moment of a span."""
        return [took for began, took in self.times if began <= last and began + took >= first]


def ask_on(
    address: str, root: Path, questions: Sequence[str], encoder: str, ended: threading.Event, into: Searches
) -> None:
    """Ask one question after another until told to end."""
    with Index.open(root, backend=address, encoder=encoder, isolation="never", feedback=False) as index:
        order = random.Random(threading.get_ident()).sample(list(questions), len(questions))
        while not ended.is_set():
            for question in order:
                began = time.monotonic()
                try:
                    answer = index.search(question, k=10, mode="hybrid", plain=True)
                    into.partial += [each.problem for each in answer.lanes if each.problem]
                except DowseError as error:
                    into.failed.append(str(error))
                into.times.append((began, time.monotonic() - began))
                if ended.is_set():
                    return


def documents(address: str) -> Counter[tuple[str, int, str]]:
    """Return all visible documents: kind, number and hash of the content, counted."""
    backend = ElasticBackend(address)
    searcher = backend.searcher()
    found: Counter[tuple[str, int, str]] = Counter()
    for kind in VERSIONED:
        number = "file" if kind == "files" else "row"
        for hit in searcher.scan(kind, None, number, source=["hash", number]):
            found[kind, hit["_source"][number], hit["_source"]["hash"]] += 1
    backend.close()
    return found


def index_all(address: str, roots: Sequence[Path], encoder: str) -> subprocess.Popen[bytes]:
    """Start indexing sources, one after the other, in a process of its own."""
    program = (
        "import sys; from dowse import Index\n"
        "for root in sys.argv[3:]:\n"
        "    with Index.open(root, backend=sys.argv[1], encoder=sys.argv[2]) as index:\n"
        "        index.update(); index.embed()\n"
    )
    return subprocess.Popen([sys.executable, "-c", program, address, encoder, *map(str, roots)])


def main() -> None:
    """Kill a node and count."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("corpus", type=Path, help="what is there from the beginning and asked for")
    parser.add_argument("repositories", type=Path, nargs="+", help="what the index job brings meanwhile")
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--encoder", default="small")
    parser.add_argument("--victim", type=int, default=-1, help="0, 1 or 2; the elected master if not given")
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path, default=Path("bench/results/cluster_kill.json"))
    options = parser.parse_args()
    with gzip.open(options.queries, "rt") as lines:
        questions = [json.loads(line)["text"] for line in lines][:300]
    with work_folder(options.work) as folder:
        folder.chmod(0o755)  # nodes do not run as root
        nodes = Nodes(folder / "nodes", 3)
        try:
            for number in range(3):
                nodes.start(number)
            nodes.wait()
            results = disturb(nodes, options, questions)
        finally:
            nodes.stop()
    write_results(options.out, results)


def disturb(nodes: Nodes, options: argparse.Namespace, questions: Sequence[str]) -> dict[str, Any]:
    """Run everything on a fresh cluster."""
    hosts = ",".join(f"127.0.0.1:{port}" for port in nodes.ports)
    calm, busy = (f"elastic://{hosts}/{name}" for name in ("calm", "busy"))
    for address in (calm, busy):
        assert index_all(address, [options.corpus], options.encoder).wait() == 0
    assert index_all(calm, options.repositories, options.encoder).wait() == 0
    searches, ended = Searches(), threading.Event()
    threads = [
        threading.Thread(
            target=ask_on, args=(busy, options.corpus, questions, options.encoder, ended, searches)
        )
        for _ in range(SEARCHERS)
    ]
    for thread in threads:
        thread.start()
    time.sleep(BEFORE / 2)
    job, started = index_all(busy, options.repositories, options.encoder), time.monotonic()
    time.sleep(BEFORE / 2)
    was_running = job.poll() is None
    victim = options.victim if options.victim >= 0 else master(calm)
    killed = time.monotonic()
    nodes.kill(victim)
    code = job.wait()
    took = time.monotonic() - started
    time.sleep(max(0.0, killed + AFTER - time.monotonic()))
    ended.set()
    for thread in threads:
        thread.join()
    wanted, there = documents(calm), documents(busy)
    return {
        "searches": len(searches.times),
        "failed": searches.failed,
        "partial": searches.partial,
        "index_job": {"exit": code, "seconds": round(took, 1), "running_at_the_kill": was_running},
        "documents": sum(wanted.values()),
        "lost": sum((wanted - there).values()),
        "doubled": sum((there - wanted).values()),
        "victim": f"node {victim}{'' if options.victim >= 0 else ', the elected master'}",
        "before_ms": spread(searches.between(0, killed - 1)),
        "failing_ms": spread(searches.between(killed, killed + FAILING)),
    }


def master(address: str) -> int:
    """Return the number of the elected master: its death costs most."""
    backend = ElasticBackend(address)
    found: Any = backend.client.call(lambda es: es.cat.master(format="json", h="node")).body
    backend.close()
    return int(str(found[0]["node"]).removeprefix("n"))


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Return the middle and the ends of some times, in milliseconds."""
    shares = (0.5, 0.95, 0.99, 1.0)
    return {f"p{100 * share:g}": round(1000 * percentile(seconds, share), 1) for share in shares}


if __name__ == "__main__":
    main()
