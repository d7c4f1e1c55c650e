"""Lanes in processes: what asking them costs, how fast they start, and what faults do to 50 queries at once.

    python bench/lanes_speed.py --tree DIR [--limit 3] [--out bench/results/lane_faults.json]

Each fault is put into each lane in turn; every query asks all lanes. It counts how many queries came back
within the limit (and a twentieth of it: threads that wake up at once wait for each other), how many had the
whole answers of the lanes that were not at fault, and how long the slowest took.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dowse import Index
from dowse.search.lanes.host import LaneHost
from dowse.search.lanes.jobs import LANES, InlineLanes, Lane, LaneJob, Outcome
from dowse.storage.protocol import Reader

from common import milliseconds, work_folder, write_results

QUERY = "parse configuration file"
_SLACK = 1.05
_LONG = 60.0
_ROUNDS = 300
_STARTS = 7


def echo(reader: Reader, **_: object) -> int:
    """Do nothing: what is left is the way there and back."""
    return reader.generation


def hang(reader: Reader, **_: object) -> None:
    """Sleep."""
    time.sleep(3600)


def hang_holding_the_lock(reader: Reader, **_: object) -> None:
    """Sleep in native code that keeps the interpreter's lock."""
    ctypes.PyDLL(None).sleep(3600)


def fail(reader: Reader, **_: object) -> None:
    """Raise what nobody expects."""
    raise RuntimeError("boom")


def crash(reader: Reader, **_: object) -> None:
    """End as bad native code does."""
    os.kill(os.getpid(), signal.SIGSEGV)


FAULTS = {
    "hung": hang,
    "hung, holding the interpreter's lock": hang_holding_the_lock,
    "raising": fail,
    "crashing": crash,
}
KILLED = "killed from outside"  # the lane itself is whole


def main() -> None:
    """Index once, then ask."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--lanes", nargs="+", default=list(LANES))
    parser.add_argument("--queries", type=int, default=50, help="at once")
    parser.add_argument("--limit", type=float, default=3.0, help="seconds that a lane has")
    parser.add_argument("--encoder", default="base")
    parser.add_argument("--work", type=Path, help="index here (default: a temporary folder)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with (
        work_folder(options.work) as work,
        Index.open(options.tree, index_dir=str(work / "index"), encoder=options.encoder) as index,
    ):
        index.update()
        index.embed()
        with index.backend.reader() as reader:
            jobs = [job for job in make_jobs(reader) if job.lane in options.lanes]
            results: dict[str, object] = {
                "symbols": reader.symbol_count(),
                "round_trip": round_trips(index, reader, jobs),
                "start": starts(index, reader, jobs),
                "limit_s": options.limit,
                "faults": fault_table(index, reader, jobs, options.queries, options.limit),
            }
    if options.out:
        write_results(options.out, results)


def make_jobs(reader: Reader) -> list[LaneJob]:
    """Return a question for every lane."""
    (seed,) = reader.lookup("*", 1)
    weights = {"name": 2.0, "body": 1.0}
    words = {"text": QUERY, "limit": 100, "relax_below": 100, "fuzziness": "auto", "field_weights": weights}
    around = {"seeds": (seed.row,), "relation": "callers", "depth": 2, "limit": 100}
    return [
        LaneJob("keyword", words),
        LaneJob("embedding", {"text": QUERY, "limit": 100}),
        LaneJob("graph", around),
    ]


@contextmanager
def host_of(index: Index, **lanes: Lane) -> Iterator[LaneHost]:
    """Give a host, with some lanes replaced."""
    host = LaneHost(index.backend.address, index.settings, {**LANES, **lanes})
    try:
        yield host
    finally:
        host.close()


def round_trips(index: Index, reader: Reader, jobs: list[LaneJob]) -> dict[str, dict[str, float]]:
    """Ask warm lanes, here and in processes; `echo` does nothing."""
    inline = InlineLanes(lambda: index.encoder)
    rows = {}
    with host_of(index, echo=Lane("lanes_speed:echo")) as host:
        for job in [LaneJob("echo", {}), *jobs]:
            rows[f"{job.lane}, in a process"] = _timed(lambda job=job: host.run(reader, [job], _LONG))
            if job.lane in LANES:
                rows[f"{job.lane}, here"] = _timed(lambda job=job: inline.run(reader, [job]))
        rows["all lanes at once"] = _timed(lambda: host.run(reader, jobs, _LONG))
    for name, row in rows.items():
        print(f"{name:<24} {row}")
    return rows


def _timed(ask: Callable[[], list[Outcome]]) -> dict[str, float]:
    taken = []
    for turn in range(_ROUNDS + 10):
        started = time.perf_counter()
        outcomes = ask()
        if turn >= 10:
            taken.append(time.perf_counter() - started)
        _check(outcomes)
    return milliseconds(taken)


def starts(index: Index, reader: Reader, jobs: list[LaneJob]) -> dict[str, float]:
    """Return milliseconds from nothing to the first answer."""
    rows = {}
    for name, asked in [*((job.lane, [job]) for job in jobs), ("all lanes at once", jobs)]:
        taken = []
        for _ in range(_STARTS):
            with host_of(index) as host:
                started = time.perf_counter()
                _check(host.run(reader, asked, _LONG))
                taken.append(time.perf_counter() - started)
        rows[name] = round(1000 * statistics.median(taken), 1)
        print(f"start of {name:<24} {rows[name]} ms")
    return rows


def fault_table(
    index: Index, reader: Reader, jobs: list[LaneJob], queries: int, limit: float
) -> list[dict[str, Any]]:
    """Put every fault into every lane."""
    rows = []
    for job in jobs:
        for fault in [*FAULTS, KILLED]:
            function = FAULTS.get(fault)
            # As the fault is not the lane's own function, it gets no encoder and asks for none.
            lanes = {job.lane: Lane(f"lanes_speed:{function.__name__}")} if function else {}
            with host_of(index, **lanes) as host:
                row = _storm(host, reader, jobs, job.lane, queries, limit, kill=function is None)
            rows.append({"lane": job.lane, "fault": fault, **row})
            print(rows[-1])
    return rows


def _storm(
    host: LaneHost, reader: Reader, jobs: list[LaneJob], bad: str, queries: int, limit: float, *, kill: bool
) -> dict[str, Any]:
    """Ask everything many times at once while one lane is at fault."""
    healthy = [job for job in jobs if job.lane != bad]
    expected = {outcome.lane: outcome.result for outcome in _check(host.run(reader, healthy, _LONG))}
    together, over = threading.Barrier(queries), threading.Event()

    def ask(_: int) -> tuple[float, list[Outcome]]:
        together.wait()
        started = time.perf_counter()
        outcomes = host.run(reader, jobs, limit)
        return time.perf_counter() - started, outcomes

    def kill_always() -> None:
        while not over.wait(0.001):
            pid = host.pids().get(bad)
            if pid:
                with suppress(ProcessLookupError):  # gone meanwhile
                    os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_always)
    if kill:
        killer.start()
    with ThreadPoolExecutor(queries) as pool:
        answers = list(pool.map(ask, range(queries)))
    over.set()
    if kill:
        killer.join()
    whole = [
        all(outcome.result == expected[outcome.lane] for outcome in outcomes if outcome.lane != bad)
        for _, outcomes in answers
    ]
    problems = {outcome.problem for _, outcomes in answers for outcome in outcomes if outcome.lane == bad}
    return {
        "queries": queries,
        "within_limit": sum(taken <= limit * _SLACK for taken, _ in answers),
        "other_lanes_whole": sum(whole),
        "slowest_ms": round(1000 * max(taken for taken, _ in answers), 1),
        "said": sorted(problems),
    }


def _check(outcomes: list[Outcome]) -> list[Outcome]:
    problems = [outcome.problem for outcome in outcomes if outcome.problem]
    if problems:
        raise SystemExit("; ".join(problems))
    return outcomes


if __name__ == "__main__":
    main()
