"""Two checkouts of dowse side by side on one tree: does a change make indexing, searching or starting slower?

    python bench/compare.py --before DIR --after DIR --tree DIR [--rounds 15] [--out FILE]

The two take turns, warm processes query by query, so that whatever else the machine does hits both: the
median of the ratios of neighbours is the figure to read. CPU seconds of all processes count; the best is
beside it.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from common import write_results

_WARM = """
import sys, time
from dowse import Index
how = {"index_dir": sys.argv[2], "encoder": sys.argv[3], "isolation": "never", "refresh": "never"}
index = Index.open(sys.argv[1], **how)
for query in sys.stdin:
    started = time.process_time()
    index.search(query.strip(), mode=sys.argv[4])
    print(time.process_time() - started, flush=True)
"""
_QUERIES = (
    *("parse configuration file", "retry after error", "open a connection", "write to a temporary file"),
    *("split a string", "validate arguments of a function", "cache of results", "read json from a stream"),
)
_WARM_TURNS = 400


def main() -> None:
    """Run every measurement on both."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("before", "after", "tree"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "compare.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dowse-compare-") as work:
        checkouts = {"before": options.before.resolve(), "after": options.after.resolve()}
        results = measure(checkouts, options.tree.resolve(), Path(work), options.rounds)
    write_results(options.out, results)


def measure(checkouts: dict[str, Path], tree: Path, work: Path, rounds: int) -> dict[str, object]:
    """Return the CPU times of both checkouts for each measurement."""
    times: dict[str, dict[str, list[float]]] = {}
    for number in range(rounds):
        order = list(checkouts) if number % 2 else list(reversed(checkouts))
        for name in order:
            for what, seconds in one_round(checkouts[name], tree, work / name, first=number == 0).items():
                times.setdefault(what, {}).setdefault(name, []).append(seconds)
    for mode, encoder in (("keyword", "none"), ("hybrid", "small")):
        times[f"search_warm_{mode}"] = warm_searches(checkouts, tree, work, mode, encoder)
    return {
        what: {
            "before_ms": round(1000 * min(by["before"]), 2),
            "after_ms": round(1000 * min(by["after"]), 2),
            "ratio_of_best": round(min(by["after"]) / min(by["before"]), 3),
            "median_of_ratios": round(
                statistics.median(a / b for a, b in zip(by["after"], by["before"], strict=True)), 3
            ),
        }
        for what, by in times.items()
    }


def one_round(checkout: Path, tree: Path, work: Path, *, first: bool) -> dict[str, float]:
    """Measure everything once."""
    work.mkdir(exist_ok=True)
    index = ["--index-dir", str(work / "index")]
    dowse = [sys.executable, "-m", "dowse.entry"]
    environment = environment_of(checkout, work)

    def cpu(*command: str) -> tuple[float, str]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, env=environment, cwd=work, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{command} failed: {done.stderr[-500:]}")
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout

    full, _ = cpu(*dowse, "index", str(tree), *index, "--encoder", "none", "--rebuild")
    if first:  # bytecode, and vectors for the searches by meaning, which the shared cache keeps
        full, _ = cpu(*dowse, "index", str(tree), *index, "--encoder", "none", "--rebuild")
    cpu(*dowse, "index", str(tree), *index, "--encoder", "small")
    unchanged, _ = cpu(*dowse, "index", str(tree), *index, "--encoder", "none")
    query = ["search", "parse configuration file", str(tree), *index, "--no-daemon"]
    keyword, _ = cpu(*dowse, *query, "--encoder", "none")
    hybrid, _ = cpu(*dowse, *query, "--encoder", "small")
    return {
        "index_full": full,
        "index_unchanged": unchanged,
        "search_cold_keyword": keyword,
        "search_cold_hybrid": hybrid,
    }


def warm_searches(
    checkouts: dict[str, Path], tree: Path, work: Path, mode: str, encoder: str
) -> dict[str, list[float]]:
    """Return the CPU times that running processes need for all queries, turn by turn, query by query."""
    running = {
        name: subprocess.Popen(
            [sys.executable, "-c", _WARM, str(tree), str(work / name / "index"), encoder, mode],
            env=environment_of(checkout, work / name),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, checkout in checkouts.items()
    }

    def ask(process: subprocess.Popen[str], query: str) -> float:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(f"{query}\n")
        process.stdin.flush()
        return float(process.stdout.readline())

    times: dict[str, list[float]] = {name: [] for name in running}
    for turn in range(_WARM_TURNS):
        order = list(running) if turn % 2 else list(reversed(running))
        total = dict.fromkeys(running, 0.0)
        for query in _QUERIES:
            for name in order:
                total[name] += ask(running[name], query) / len(_QUERIES)
        for name in order:
            if turn:  # the first turn reads what later ones remember
                times[name].append(total[name])
    for process in running.values():
        process.communicate()
    return times


def environment_of(checkout: Path, work: Path) -> dict[str, str]:
    """Return what makes a process run the code of a checkout, with folders of its own."""
    return {
        **os.environ,
        "PYTHONPATH": str(checkout / "src"),
        "DOWSE_CACHE_DIR": str(work / "cache"),
        "DOWSE_DATA_DIR": str(work / "data"),
        "DOWSE_CONFIG": os.devnull,
        "ORT_DISABLE_TELEMETRY": "1",
    }


if __name__ == "__main__":
    main()
