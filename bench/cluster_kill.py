"""Nodes are killed or restarted while eight searchers ask and an index job runs.

Of three nodes with security, one is killed (-9), or all are restarted in turn (--rolling), several times.

Counted: searches that failed or came back without a lane, documents lost or doubled (against an undisturbed
index of the same sources), and how long searches took before and after. All connections use TLS and API keys:
searchers and the index job those of docs/CLUSTER.md with the least privileges.

    python bench/cluster_kill.py DATA/csn-python REPOSITORY… --queries DATA/csn-python/queries.jsonl.gz
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from dowse import Index
from dowse.errors import DowseError
from dowse.storage.elastic.backend import ElasticBackend
from dowse.storage.elastic.names import VERSIONED
from storage.cluster import Nodes
from storage.secured_fixtures import Secured, variables_set

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


# Indexes sources in turn; again, each after it was removed, until a file tells it to end. An error is noted,
# and the same is run again, as its message says.
JOB = """
import json, pathlib, sys
from dowse import Index
from dowse.errors import DowseError
address, encoder, end, *roots = sys.argv[1:]
rounds, errors = 0, []

def index(root, clear):
    while True:
        try:
            with Index.open(root, backend=address, encoder=encoder) as index:
                if clear:
                    index.backend.clear(None)
                    clear = False
                index.update()
                return
        except DowseError as error:
            if not end or len(errors) > 20:  # or the cluster is gone
                raise
            errors.append(str(error))

while not rounds or (end and not pathlib.Path(end).exists()):
    for root in roots:
        index(root, clear=rounds > 0)
    rounds += 1
if end:
    pathlib.Path(end).write_text(json.dumps({"rounds": rounds, "errors": errors}))
"""


def index_all(
    address: str, roots: Sequence[Path], encoder: str, credentials: Mapping[str, str], end: str = ""
) -> subprocess.Popen[bytes]:
    """Start indexing sources, one after the other, in a process of its own; see JOB for `end`."""
    command = [sys.executable, "-c", JOB, address, encoder, end, *map(str, roots)]
    return subprocess.Popen(command, env={**os.environ, **credentials})


def main() -> None:
    """Kill a node and count."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("corpus", type=Path, help="what is there from the beginning and asked for")
    parser.add_argument("repositories", type=Path, nargs="+", help="what the index job brings meanwhile")
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--encoder", default="small")
    parser.add_argument("--victim", type=int, default=-1, help="0, 1 or 2; the elected master if not given")
    parser.add_argument(
        "--rolling", type=int, default=0, help="so often restart all nodes in turn, as for upgrades"
    )
    parser.add_argument("--work", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with gzip.open(options.queries, "rt") as lines:
        questions = [json.loads(line)["text"] for line in lines][:300]
    with work_folder(options.work) as folder:
        folder.chmod(0o755)  # nodes do not run as root
        nodes = Nodes(folder / "nodes", 3, secured=True)
        try:
            for number in range(3):
                nodes.start(number)
            nodes.wait()
            results = disturb(nodes, options, questions, folder)
        finally:
            nodes.stop()
    write_results(options.out, results)


def disturb(
    nodes: Nodes, options: argparse.Namespace, questions: Sequence[str], folder: Path
) -> dict[str, Any]:
    """Run everything on a fresh cluster."""
    node, hosts = Secured(nodes.urls[0], nodes.folder), ",".join(f"127.0.0.1:{port}" for port in nodes.ports)
    calm, busy = (f"elastics://{hosts}/{name}" for name in ("calm", "busy"))

    def as_(role: str) -> dict[str, str]:
        return node.environment(DOWSE_ELASTIC_API_KEY=node.key(role, "calm", "busy"))

    administrator = as_("administrator")
    for address in (calm, busy):
        assert index_all(address, [options.corpus], options.encoder, administrator).wait() == 0
    assert index_all(calm, options.repositories, options.encoder, administrator).wait() == 0
    searches, ended = Searches(), threading.Event()
    threads = [
        threading.Thread(
            target=ask_on,
            args=(busy, options.corpus, questions, options.encoder, ended, searches),
            daemon=True,
        )
        for _ in range(SEARCHERS)
    ]
    end = str(folder / "end") if options.rolling else ""
    with variables_set(as_("searcher")):  # until the end: credentials are read when a connection opens
        for thread in threads:
            thread.start()
        time.sleep(BEFORE / 2)
        job = index_all(busy, options.repositories, options.encoder, as_("indexer"), end)
        started = time.monotonic()
        time.sleep(BEFORE / 2)
        was_running = job.poll() is None
        disturbed = time.monotonic()
        if options.rolling:
            victim = f"all nodes in turn, {options.rolling} times"
            restarts = [restart(nodes, number) for _ in range(options.rolling) for number in range(3)]
        else:
            number = options.victim if options.victim >= 0 else master(nodes)
            victim = f"node {number}{'' if options.victim >= 0 else ', the elected master'}"
            restarts = []
            nodes.kill(number)
        was_running = was_running and (job.poll() is None or not options.rolling)
        Path(end or folder / "end").touch()
        code = job.wait()
        took = time.monotonic() - started
        time.sleep(max(0.0, disturbed + AFTER - time.monotonic()))
        ended.set()
        for thread in threads:
            thread.join()
    with variables_set(administrator):
        wanted, there = documents(calm), documents(busy)
    failing = disturbed + (sum(restarts) or FAILING)
    return {
        "searches": len(searches.times),
        "failed": searches.failed,
        "partial": searches.partial,
        "index_job": {
            **{"exit": code, "seconds": round(took, 1), "running_at_the_kill": was_running},
            **(json.loads(Path(end).read_text() or "{}") if end else {}),
        },
        "documents": sum(wanted.values()),
        "lost": sum((wanted - there).values()),
        "doubled": sum((there - wanted).values()),
        "victim": victim,
        **({"restart_seconds": [round(each, 1) for each in restarts]} if restarts else {}),
        "before_ms": spread(searches.between(0, disturbed - 1)),
        "failing_ms": spread(searches.between(disturbed, failing)),
    }


def restart(nodes: Nodes, number: int) -> float:
    """Restart one node and wait until every shard has its copies again, as docs/CLUSTER.md says."""
    began = time.monotonic()
    nodes.shut_down(number)
    nodes.start(number)
    path = "/_cluster/health?wait_for_nodes=3&wait_for_status=green&timeout=2s"
    while True:
        with contextlib.suppress(OSError, ValueError):
            health = nodes.ask(path, number)  # itself: others may not have noticed that it was away
            if health["status"] == "green" and health["number_of_nodes"] == 3:
                return time.monotonic() - began
        time.sleep(0.5)


def master(nodes: Nodes) -> int:
    """Return the number of the elected master: its death costs most."""
    state = nodes.ask("/_cluster/state/master_node,nodes")
    return int(state["nodes"][state["master_node"]]["name"].removeprefix("n"))


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Return the middle and the ends of some times, in milliseconds."""
    shares = (0.5, 0.95, 0.99, 1.0)
    return {f"p{100 * share:g}": round(1000 * percentile(seconds, share), 1) for share in shares}


if __name__ == "__main__":
    main()
