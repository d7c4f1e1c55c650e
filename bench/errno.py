"""Errors of the system at the calls of everything that writes: full disk, quota, permissions, broken disk.

    python bench/errno.py --runs 2000 --out FILE

Each run injects one error at one call that writes, syncs, renames or opens a file of the place
(`tests/errno_injection.py`), or from that call on. A command then ends with 0 or with 2 and one line, and the
place is as before or after the writer; a share of them is updated, which must make them equal to a rebuild.
"""

from __future__ import annotations

import argparse
import collections
import functools
import itertools
import json
import math
import multiprocessing
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from forked import Failed, forked, load_modules

from common import work_folder, write_results

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from dowse.interfaces.cli.main import exit_code
from errno_injection import ERRORS, Injection, calls_in, run, wrong_end
from index_writers import COMMANDS, WRITERS, Place, State, mended, prepare, problem, state


class Known(NamedTuple):
    """A writer without errors."""

    before: State
    after: State
    whole: State  # after a rebuild of everything
    output: str
    calls: list[tuple[str, int]]


def main() -> None:
    """Inject, check and count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so long")
    parser.add_argument("--mended", type=float, default=0.2, help="share of runs after which it is updated")
    parser.add_argument("--writers", default=",".join([*WRITERS, *COMMANDS]))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    began = time.monotonic()
    with multiprocessing.get_context("fork").Pool(options.processes) as pool:
        parts = pool.map(functools.partial(_part, options), range(options.processes), 1)
    outcomes = [outcome for part in parts for outcome in part]
    results = _summary(outcomes) | {"seed": options.seed, "seconds": round(time.monotonic() - began)}
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def _part(options: argparse.Namespace, part: int) -> list[tuple[str, str, str, str]]:
    """Return the outcomes of one process: the writer, the kind, the injection and what is wrong."""
    began, outcomes = time.monotonic(), []
    runs = len(range(part, options.runs, options.processes))
    with work_folder(None) as base:
        places, modules = forked(lambda: (prepare(base), list(sys.modules)))
        load_modules(modules)
        known = {name: _undisturbed(name, places, base / "run") for name in options.writers.split(",")}
        for name, injection in itertools.islice(
            _injections(known, options.seed), part, None, options.processes
        ):
            if len(outcomes) >= runs or time.monotonic() - began > options.seconds:
                break
            place = places[_start(name)].copy(base / "run")
            is_mended = random.Random(str(injection)).random() < options.mended
            kind, wrong = _inject(name, place, known[name], injection, is_mended=is_mended)
            if kind != "elsewhere":
                outcomes.append((name, kind, str(injection), wrong))
            if wrong:
                print(name, injection, kind, wrong, flush=True)
    return outcomes


def _start(name: str) -> str:
    return (WRITERS | COMMANDS)[name][1]


def _writer(name: str, place: Place) -> Callable[[], int]:
    return lambda: exit_code(lambda: (WRITERS | COMMANDS)[name][0](place) or 0)


def _undisturbed(name: str, places: dict[str, Place], folder: Path) -> Known:
    """Run a writer without errors, twice: once to see what it does."""
    place = places[_start(name)].copy(folder)
    before, place = forked(lambda: state(place)), places[_start(name)].copy(folder)
    calls = calls_in(_writer(name, place), folder)
    place = places[_start(name)].copy(folder)
    outcome = run(_writer(name, place))
    assert outcome.code == 0, outcome
    after, whole = forked(lambda: (state(place), mended(place, name)))
    return Known(before, after, whole, outcome.output, calls)


def _injections(known: dict[str, Known], seed: int) -> Iterator[tuple[str, Injection]]:
    """Yield errors at all calls of all writers, in random order, a lasting one in four."""
    pairs = [(name, *call, error) for name in known for call in known[name].calls for error in ERRORS]
    chance = random.Random(seed)
    chance.shuffle(pairs)
    # Without `openat` nothing at all can be loaded or read.
    return ((name, Injection(*each, each[0] != "openat" and chance.random() < 0.25)) for name, *each in pairs)


def _inject(
    name: str, place: Place, known: Known, injection: Injection, *, is_mended: bool
) -> tuple[str, str]:
    """Run a writer with an error; return the kind of fault and what is wrong, "" for nothing."""
    outcome = run(_writer(name, place), injection)
    if not outcome.injected or not all(str(place.folder) in call for call in outcome.injected):
        return "elsewhere", ""  # a pipe, or a parser that can't load its program
    if wrong := wrong_end(outcome, known.output):
        return wrong, f"{outcome.code} {outcome.errors[-1500:]}"
    try:
        found = forked(lambda: state(place))
        wrong = problem(found, known.before, known.after)
        if wrong and found.index and found.index["skipped"]:  # a source file could not be read
            wrong, is_mended = "", True
        whole = forked(lambda: mended(place, name)) if is_mended else known.whole
        if whole._replace(events=[]) != known.whole._replace(events=[]):
            wrong = wrong or "differs from a rebuild"
    except Failed as error:
        wrong = str(error)
    return ("damaged", f"{outcome} {wrong}") if wrong else (str(outcome.code), "")


def _summary(outcomes: list[tuple[str, str, str, str]]) -> dict[str, Any]:
    faults = ("traceback", "wrong exit code", "damaged")
    kinds = collections.Counter(kind for _, kind, *_ in outcomes)
    writers = {name for name, *_ in outcomes}
    return {
        "runs": len(outcomes),
        **{f"exit code {code}": kinds[str(code)] for code in (0, 2)},
        **{fault: kinds[fault] for fault in faults},
        "faults": [each for each in outcomes if each[3]][:20],
        "writers": {name: sum(each[0] == name for each in outcomes) for name in sorted(writers)},
    }


if __name__ == "__main__":
    main()
