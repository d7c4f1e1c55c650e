"""SIGKILL at random moments of everything that writes to an index or beside it.

    python bench/kills.py --kills 1000 --processes 2 --out FILE

After each kill the place opens and is as before or after the writer; a share of them is updated, which must
make them equal to a rebuild. Half of the moments are drawn from the whole run, half from the time in which it
writes.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import math
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from forked import Failed, fork, forked, load_modules

from common import work_folder, write_results

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from index_writers import WRITERS, Place, State, mended, prepare, problem, state

# How often the place is looked at for the first write.
_POLL_SECONDS = 0.005


class Known(NamedTuple):
    """A writer that was not killed."""

    before: State
    after: State
    whole: State  # after a rebuild of everything
    seconds: float
    first_write: float
    last_write: float


class Outcome(NamedTuple):
    """What a kill did."""

    writer: str
    seed: int
    was_killed: bool  # else the writer had ended
    after_writing: bool  # whether anything was written before
    was_mended: bool
    is_new: bool  # whether the place was as after the writer
    problem: str


def main() -> None:
    """Kill, check and count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--mended", type=float, default=0.3, help="share of kills after which it is updated")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so long")
    parser.add_argument("--writers", default=",".join(WRITERS))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, help="folder to work in (default: a temporary one)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    began, writers = time.monotonic(), options.writers.split(",")
    with work_folder(options.work) as base:
        places, modules = forked(lambda: (prepare(base), list(sys.modules)))
        load_modules(modules)
        known = {name: _undisturbed(name, places, base / "undisturbed") for name in writers}
        for name, each in known.items():
            print(
                f"{name}: {each.seconds:.2f} s, writes for {each.last_write - each.first_write:.2f} s",
                flush=True,
            )
        share = -(-options.kills // options.processes)
        workers = [
            _start(
                base,
                number,
                lambda n=number: _kill_many(base / str(n), share, n, places, known, options),
            )
            for number in range(options.processes)
        ]
        outcomes = [outcome for worker in workers for outcome in _results(*worker)]
    results = _summary(outcomes, known)
    results |= {"seed": options.seed, "seconds": round(time.monotonic() - began)}
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def _undisturbed(name: str, places: dict[str, Place], folder: Path) -> Known:
    """Run a writer to its end."""
    run, start = WRITERS[name]
    before = forked(lambda: state(places[start].copy(folder)))
    place = places[start].copy(folder)
    writes: list[float] = []
    began, seen = time.monotonic(), _stamp(place.folder)
    pid = fork(lambda: run(place))
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        if (now := _stamp(place.folder)) != seen:
            seen = now
            writes.append(time.monotonic() - began)
        time.sleep(_POLL_SECONDS)
    seconds = time.monotonic() - began
    after, whole = forked(lambda: (state(place), mended(place, name)))
    return Known(before, after, whole, seconds, writes[0], writes[-1])


def _kill_many(
    folder: Path,
    kills: int,
    process: int,
    places: dict[str, Place],
    known: dict[str, Known],
    options: argparse.Namespace,
) -> Iterator[Outcome]:
    """Kill each writer in turn until there are enough, or the time is over."""
    done, began = 0, time.monotonic()
    for number in itertools.count():
        if done >= kills or time.monotonic() - began > options.seconds:
            return
        name = list(known)[number % len(known)]
        place = places[WRITERS[name][1]].copy(folder)
        seed = 1_000_000 * (options.seed + process) + number
        outcome = _kill(name, seed, place, known[name], options.mended)
        done += outcome.was_killed
        yield outcome


def _kill(name: str, seed: int, place: Place, known: Known, mended_share: float) -> Outcome:
    """Run a writer, kill it, and look at what it left."""
    chance, untouched = random.Random(seed), _stamp(place.folder)
    is_mended = chance.random() < mended_share
    pid = fork(lambda: WRITERS[name][0](place))
    if chance.random() < 0.5:
        time.sleep(chance.uniform(0, known.seconds))
    else:
        while _stamp(place.folder) == untouched and _is_running(pid):
            time.sleep(_POLL_SECONDS)
        time.sleep(chance.uniform(0, known.last_write - known.first_write))
    os.kill(pid, signal.SIGKILL)
    was_killed = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    after_writing = _stamp(place.folder) != untouched
    try:
        found, whole = forked(lambda: (state(place), mended(place, name) if is_mended else None))
        wrong = problem(found, known.before, known.after)
        if is_mended and whole._replace(events=[]) != known.whole._replace(events=[]):
            wrong = wrong or "differs from a rebuild"
        is_new = found == known.after
    except Failed as error:
        wrong, is_new = str(error), False
    return Outcome(name, seed, was_killed, after_writing, is_mended, is_new, wrong)


def _is_running(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def _start(base: Path, number: int, outcomes: Callable[[], Iterator[Outcome]]) -> tuple[int, Path]:
    """Start a process that writes its outcomes into a file."""
    file = base / f"outcomes-{number}.jsonl"

    def work() -> None:
        with file.open("w") as out:
            for outcome in outcomes():
                print(json.dumps(outcome), file=out, flush=True)
                if outcome.problem:
                    print(outcome, file=sys.stderr, flush=True)

    return fork(work, limit=0), file


def _results(pid: int, file: Path) -> list[Outcome]:
    if os.waitpid(pid, 0)[1]:
        raise SystemExit("a process failed")
    return [Outcome(*json.loads(line)) for line in file.read_text().splitlines()]


def _stamp(folder: Path) -> int:
    """Return a number that changes with any write below a folder."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in (*names, "."):
            try:
                status = os.stat(os.path.join(parent, name))
            except OSError:
                continue
            total = hash((total, name, status.st_mtime_ns, status.st_size, status.st_ino))
    return total


def _summary(outcomes: list[Outcome], known: dict[str, Known]) -> dict[str, Any]:
    killed = [each for each in outcomes if each.was_killed]
    by_writer = collections.Counter(each.writer for each in killed)
    writing = collections.Counter(each.writer for each in killed if each.after_writing)
    return {
        "kills": len(killed),
        "after the first write": sum(writing.values()),
        "updated afterwards": sum(each.was_mended for each in killed),
        "with the result of the writer": sum(each.is_new for each in killed),
        "damaged or different": sum(bool(each.problem) for each in outcomes),
        "problems": [[each.writer, each.seed, each.problem] for each in outcomes if each.problem][:20],
        "writers": {
            name: {
                "kills": by_writer[name],
                "after the first write": writing[name],
                "seconds undisturbed": round(each.seconds, 2),
            }
            for name, each in known.items()
        },
    }


if __name__ == "__main__":
    main()
