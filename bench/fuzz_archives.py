"""Snapshots and reports that were tampered with: is each refused in one line, quickly and in little memory?

python bench/fuzz_archives.py --count 20000 --seed 0 --out bench/results/fuzz_archives.json

A mutation keeps lengths and checksums right and changes what is behind them. What is not refused is used in
full: imported, searched and read back, or rendered in every form and served.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from common import peak_megabytes, percentile, work_folder, write_results

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from archive_mutations import mutate_report, mutate_snapshot
from archive_targets import small_snapshot, use_report, use_snapshot, written_outside
from dowse.errors import DowseError
from dowse.eval.reports.json_form import to_json
from eval.report_samples import small_report, varied_report

# Beyond this a run counts as a hang, and this much memory is the bar.
_HANG_SECONDS = 5.0
_BAR_MEGABYTES = 500
_SHOWN = 5
# Mutations that one process runs: memory is that of a process, and what is native in it stays for a while.
_CHUNK = 500


def main() -> None:
    """Fuzz both kinds of files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=20_000, help="of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=("snapshots", "reports"), help="one of them alone")
    parser.add_argument("--work", type=Path, help="folder to work in (default: a temporary one)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    results: dict[str, object] = {"count": options.count, "seed": options.seed}
    with work_folder(options.work) as folder:
        os.environ["DOWSE_CACHE_DIR"] = str(folder / "cache")
        for kind in ("snapshots", "reports"):
            if options.kind in (None, kind):
                results[kind] = fuzz(kind, folder, options.count, options.seed)
    results["bars_hold"] = all(_holds(each) for each in results.values() if isinstance(each, dict))
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)
    if not results["bars_hold"]:
        raise SystemExit(1)


def _holds(found: dict[str, object]) -> bool:
    is_small = float(str(found["peak_mb"])) <= _BAR_MEGABYTES
    return not found["tracebacks"] and not found["hangs"] and not found["written_outside"] and is_small


def _snapshots(folder: Path) -> Callable[[random.Random], list[str]]:
    frames = small_snapshot(folder / "good")
    place = folder / "bad"

    def run(rng: random.Random) -> list[str]:
        data = mutate_snapshot(rng, frames)
        try:
            use_snapshot(data, place)
        finally:
            outside = written_outside(place) if place.exists() else []
        return outside

    return run


def _reports(folder: Path) -> Callable[[random.Random], list[str]]:
    good = [to_json(small_report()), to_json(varied_report())]

    def run(rng: random.Random) -> list[str]:
        data, packed = mutate_report(rng, rng.choice(good))
        use_report(data, packed, folder)
        return written_outside(folder, ["repo"])

    return run


def fuzz(kind: str, folder: Path, count: int, seed: int) -> dict[str, object]:
    """Run mutations one after the other, some hundreds in one process; return what became of them."""
    outcomes: Counter[str] = Counter()
    shown: dict[str, int] = {}
    outside: set[str] = set()
    seconds: list[float] = []
    peak = 0
    one_each = ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1)
    with one_each as processes:
        chunks = [range(first, min(count, first + _CHUNK)) for first in range(0, count, _CHUNK)]
        run = partial(run_chunk, kind, folder, seed=seed)
        for found in processes.map(run, chunks):
            outcomes.update(found.outcomes)
            shown = {**found.shown, **shown}
            outside.update(found.outside)
            seconds += found.seconds
            peak = max(peak, found.peak_mb)
            print(f"{kind}: {len(seconds):,} {dict(outcomes)}, {peak} MB", file=sys.stderr)
    return {
        "outcomes": dict(outcomes),
        "tracebacks": outcomes["traceback"] + outcomes["several lines"],
        "first_of_each": dict(list(shown.items())[:_SHOWN]),
        "hangs": sum(each > _HANG_SECONDS for each in seconds),
        "written_outside": sorted(outside),
        "slowest_s": round(max(seconds), 2),
        "p50_ms": round(percentile(seconds, 0.5) * 1000, 2),
        "p99_ms": round(percentile(seconds, 0.99) * 1000, 2),
        "peak_mb": peak,
    }


class Chunk(NamedTuple):
    """What became of some mutations, in a process of their own."""

    outcomes: Counter[str]
    shown: dict[str, int]  # where tracebacks came from, and the number of the first
    outside: set[str]
    seconds: list[float]
    peak_mb: int


def run_chunk(kind: str, folder: Path, numbers: range, seed: int) -> Chunk:
    """Run mutations by their numbers."""
    chunk = Chunk(Counter(), {}, set(), [], 0)
    place = folder / f"{kind}-{numbers.start}"
    run = {"snapshots": _snapshots, "reports": _reports}[kind](place)
    for number in numbers:
        rng = random.Random(f"{kind} {seed} {number}")
        began = time.perf_counter()
        try:
            chunk.outside.update(run(rng))
            outcome = "accepted"
        except DowseError as error:
            outcome = "refused" if "\n" not in str(error) else "several lines"
        except Exception as error:  # what this is about
            outcome = "traceback"
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{type(error).__name__} in {Path(last.filename).name}:{last.lineno}"
            chunk.shown.setdefault(where, number)
        chunk.outcomes[outcome] += 1
        chunk.seconds.append(time.perf_counter() - began)
    shutil.rmtree(place, ignore_errors=True)
    return chunk._replace(peak_mb=peak_megabytes())


if __name__ == "__main__":
    main()
