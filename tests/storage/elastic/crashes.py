"""Crash injection: indexing jobs that are killed (SIGKILL) at random requests and started again.

As a program, `crashes.py ADDRESS ROOT NUMBER MOMENT` indexes a tree and kills itself at its NUMBER-th request
to the cluster: `before` it is sent, or `after` the cluster has answered.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dowse import Index
from dowse.storage.elastic.backend import ElasticBackend
from dowse.storage.elastic.names import ID_FIELD, VERSIONED


def visible_documents(backend: ElasticBackend) -> dict[tuple[str, int], dict[str, Any]]:
    """Return all documents that a reader sees, by kind and number; without their transactions."""
    searcher = backend.searcher()
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for kind in VERSIONED:
        for hit in searcher.scan(kind, None, ID_FIELD[kind]):
            body = {name: value for name, value in hit["_source"].items() if value is not None}
            key = (kind, int(body[ID_FIELD[kind]]))
            assert key not in found, f"{key} is there twice"
            found[key] = {name: value for name, value in body.items() if name != "born"}
    return found


def all_ids(backend: ElasticBackend) -> set[str]:
    """Return the ids of all documents, also of invisible ones."""
    backend.client.refresh(backend.client.alias(kind) for kind in VERSIONED)
    found: set[str] = set()
    for kind in VERSIONED:
        sort = (ID_FIELD[kind], "born")
        hits = backend.client.scan(backend.client.alias(kind), {"match_all": {}}, sort)
        found |= {f"{kind} {hit['_id']}" for hit in hits}
    return found


def run_killed(address: str, root: Path, number: int, moment: str) -> bool:
    """Run one job; return whether it was killed before it was done."""
    done = subprocess.run([sys.executable, __file__, address, str(root), str(number), moment], check=False)
    if done.returncode not in (0, -signal.SIGKILL):
        raise AssertionError(f"the job ended with {done.returncode}")
    return done.returncode != 0


def kill_and_resume(
    address: str,
    root: Path,
    kills: int,
    seed: int,
    span: int = 14,
    on_kill: Callable[[str], None] = lambda _: None,
) -> int:
    """Index a tree with a job that is killed `kills` times, then to the end; return how many kills hit.

    Each is killed at one of its first `span` requests: a small tree takes about 14, a large one more.
    """
    chance = random.Random(seed)
    hits = 0
    for _ in range(kills):
        number, moment = chance.randint(1, span), chance.choice(("before", "after"))
        killed = run_killed(address, root, number, moment)
        hits += killed
        on_kill(f"{'killed' if killed else 'done'} {moment} request {number}")
    assert not run_killed(address, root, 10**9, "before")
    return hits


def main(address: str, root: str, number: str, moment: str) -> None:
    """Index a tree; die at one request."""
    import elastic_transport

    real, requests = elastic_transport.Transport.perform_request, 0

    def perform_request(self: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal requests
        requests += 1
        if requests == int(number) and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        answer = real(self, *arguments, **options)
        if requests == int(number):
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    elastic_transport.Transport.perform_request = perform_request  # type: ignore[method-assign]
    with Index.open(root, backend=address, encoder="none") as index:
        index.update()


if __name__ == "__main__":
    main(*sys.argv[1:])
