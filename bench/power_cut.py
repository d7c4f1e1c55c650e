"""Power cuts by replay: what each writer does is recorded, and the states that a cut may leave are opened.

    python bench/power_cut.py --draws 6 --processes 2 --out FILE

A cut is made before and after each sync (`tests/power_cuts`). What was not synced is there or lost: content,
names, both, or what is drawn, torn writes included. Then the place opens and is as before or after the writer
(`tests/index_writers.py`); a share of the states is updated, which must make them equal to a rebuild.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import shutil
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from forked import Failed, fork, forked, load_modules

from common import work_folder, write_results

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import index_writers
from index_writers import WRITERS, Place, State, mended, prepare, problem, state
from power_cuts.cuts import Cut, boundaries, cuts
from power_cuts.disk import Recording, Sync, write_image
from power_cuts.recording import record

_WRITERS = Path(index_writers.__file__)
_WRONG = "damaged or different"


class Known(NamedTuple):
    """A writer and what it did."""

    recording: Recording
    before: State
    after: State
    whole: State  # after a rebuild of everything


class Outcome(NamedTuple):
    """A state after a cut."""

    writer: str
    place: int
    loss: str
    is_new: bool
    was_mended: bool
    problem: str


def main() -> None:
    """Record, cut and count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--writers", default=",".join(WRITERS))
    parser.add_argument("--draws", type=int, default=6, help="losses drawn at each place")
    parser.add_argument(
        "--mended", type=float, default=0.1, help="share of states that is updated afterwards"
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--work", type=Path, help="folder to work in (default: a temporary one)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    began, results = time.monotonic(), {}
    with work_folder(options.work) as base:
        places, modules = forked(lambda: (prepare(base), list(sys.modules)))
        load_modules(modules)
        for name in options.writers.split(","):
            known = _recorded(name, places, base / "recorded")
            outcomes = _outcomes(name, known, places["none"].tree, base, options)
            results[name] = _summary(known.recording, outcomes)
            print(name, json.dumps(results[name]), flush=True)
            totals = {key: sum(each[key] for each in results.values()) for key in ("states", _WRONG)}
            seconds = round(time.monotonic() - began)
            if options.out:  # after each: what an interrupted run has found is kept
                summary = {**totals, "draws": options.draws, "seconds": seconds, "writers": results}
                write_results(options.out, summary)


def _recorded(name: str, places: dict[str, Place], folder: Path) -> Known:
    """Record a writer in the folder in which all states are checked later: paths are the same."""
    start = places[WRITERS[name][1]]
    before = forked(lambda: state(start.copy(folder)))
    place = start.copy(folder)
    environment = {"DOWSE_CACHE_DIR": str(folder / "cache"), "DOWSE_DATA_DIR": str(folder / "data")}
    writer = [sys.executable, str(_WRITERS), name, str(place.tree), str(folder)]
    recording = record(folder, writer, environment)
    after, whole = forked(lambda: (state(place), mended(place, name)))
    return Known(recording, before, after, whole)


def _outcomes(name: str, known: Known, tree: Path, base: Path, options: argparse.Namespace) -> list[Outcome]:
    """Check all states, some in each process."""

    def work(number: int, file: Path) -> None:
        folder = base / f"cut-{number}"
        with file.open("w") as out:
            for count, cut in enumerate(cuts(known.recording, options.draws)):
                if count % options.processes == number:
                    is_mended = random.Random(f"{name} {count}").random() < options.mended
                    outcome = _check(name, known, cut, Place(tree, folder), is_mended=is_mended)
                    print(json.dumps(outcome), file=out, flush=True)
                    if outcome.problem:
                        print(outcome, file=sys.stderr, flush=True)

    files = [base / f"outcomes-{number}.jsonl" for number in range(options.processes)]
    pids = [fork(lambda n=n, f=f: work(n, f), limit=0) for n, f in enumerate(files)]
    if sum(os.waitpid(pid, 0)[1] for pid in pids):
        raise SystemExit("a process failed")
    return [Outcome(*json.loads(line)) for file in files for line in file.read_text().splitlines()]


def _check(name: str, known: Known, cut: Cut, place: Place, *, is_mended: bool) -> Outcome:
    """Look at one state, and at what the next run of everything makes of it."""
    shutil.rmtree(place.folder, ignore_errors=True)
    write_image(cut.image, place.folder)
    try:
        found, whole = forked(lambda: (state(place), mended(place, name) if is_mended else None))
        wrong, is_new = problem(found, known.before, known.after), found == known.after
        if not wrong and is_mended and whole._replace(events=[]) != known.whole._replace(events=[]):
            wrong = "differs from a rebuild"
    except Failed as error:
        wrong, is_new = str(error), False
    return Outcome(name, cut.place, cut.loss, is_new, is_mended, wrong)


def _summary(recording: Recording, outcomes: list[Outcome]) -> dict[str, Any]:
    wrong = [each for each in outcomes if each.problem]
    kinds = collections.Counter(each.problem.strip().splitlines()[-1][:200] for each in wrong)
    return {
        "operations": len(recording.operations),
        "syncs": sum(isinstance(each, Sync) for each in recording.operations),
        "places": len(boundaries(recording.operations)),
        "states": len(outcomes),
        "with the result of the writer": sum(each.is_new for each in outcomes),
        "updated afterwards": sum(each.was_mended for each in outcomes),
        _WRONG: len(wrong),
        "problems": dict(kinds.most_common(10)),
    }


if __name__ == "__main__":
    main()
