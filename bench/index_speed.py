"""Indexing beside parsing alone: words, words and graph, no change, changes to 1 % of the files.

    python bench/index_speed.py --tree DIR [--tree DIR …] [--out FILE]

The files that dowse would index are copied first, so the tree itself is never touched. Parsing alone means:
read every file that has a grammar and make its syntax tree with dowse's own parsers, nothing else; once in
one process, once in as many as `dowse index` uses. Parsing and full runs take turns, and of each the quickest
counts, since other work on the machine only adds. Words are searchable when a reader finds the first
generation. Nothing is embedded. Run it with the interpreter of an ordinary installation
(not an editable one without .pyc files): short updates are mostly start-up.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from dowse import Index
from dowse.parsing.grammar import compile_grammar
from dowse.parsing.languages import LANGUAGES
from dowse.parsing.limits import parse_seconds
from dowse.source.walk import WalkedFile, walk
from dowse.storage.local.layout import catalog_path

from common import beside_python, gather, run, work_folder, write_results

WORDS_BAR = 1.3  # times parsing alone
FULL_BAR = 2.0
NO_CHANGE_BAR = 0.05  # of a full run
# Every hundredth file is changed.
CHANGED_STEP = 100
# Between two looks whether words can be searched.
_POLL_SECONDS = 0.01
# Files a parsing process takes at a time.
_CHUNK = 16

Timing = dict[str, float]


def main() -> None:
    """Parse, index, update; compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, action="append", required=True, help="may be repeated")
    parser.add_argument("--dowse", type=Path, default=beside_python(), help="the command to measure")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--runs", type=int, default=3, help="of each step: the quickest full run, the median of short updates"
    )
    parser.add_argument("--work", type=Path, help="copy and index here (default: a temporary folder)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    trees = {}
    for tree in options.tree:
        name = tree.resolve().name
        with work_folder(options.work and options.work / name) as work:
            trees[name] = measure(tree, work, options.dowse, options.processes, options.runs)
    results = {"trees": trees}
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def measure(tree: Path, work: Path, dowse: Path, processes: int, runs: int) -> dict[str, Any]:
    """Time every step on a copy of the tree."""
    copy, index_dir = work / "tree", work / "index"
    gather(tree, (f.path for f in walk(tree) if isinstance(f, WalkedFile)), copy, copy=True)
    os.environ["DOWSE_PROCESSES"] = str(processes)
    command = [dowse, "index", copy, "--index-dir", index_dir, "--quiet", "--no-embed"]
    steps: dict[str, Timing] = {}

    def record(name: str, times: list[tuple[float, float]], middle: Any = statistics.median) -> None:  # noqa: ANN401
        """Keep the median of a step, or the least, and say it."""
        wall, cpu = (middle(column) for column in zip(*times, strict=True))
        steps[name] = {"wall_s": round(wall, 3), "cpu_s": round(cpu, 3)}
        print(name, steps[name], file=sys.stderr, flush=True)

    run(command)  # the first run finds no file in memory
    jobs, size = with_grammar(Index.open(copy, index_dir=str(index_dir)))
    turns = []
    for _ in range(runs):
        turns.append([*full_run(command, index_dir), parse_only(jobs, 1), parse_only(jobs, processes)])
    names = ["words", "full", "parse, one process", f"parse, {processes} processes"]
    for name, times in zip(names, zip(*turns, strict=True), strict=True):
        record(name, list(times), min)
    record("no change", [run(command)[:2] for _ in range(runs)])
    record("1 % touched", [change_and_run(copy, command, edit=False) for _ in range(runs)])
    record("1 % edited", [change_and_run(copy, command, edit=True) for _ in range(runs)])
    return {
        "tree": describe(copy, index_dir, jobs, size),
        "processes": processes,
        "steps": steps,
        **compare(steps, processes),
    }


def full_run(command: list[Any], index_dir: Path) -> tuple[tuple[float, float], ...]:
    """Index from nothing; return wall and CPU seconds until words can be searched, and of all.

    The CPU time until then is not known: processes that still run have not reported theirs.
    """
    shutil.rmtree(index_dir)
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    words = 0.0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            if not words and has_generation(index_dir):
                words = time.perf_counter() - started
            time.sleep(_POLL_SECONDS)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        raise SystemExit(f"{command[0]} failed")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (words or wall, 0.0), (wall, cpu)


def has_generation(index_dir: Path) -> bool:
    """Whether an index, of whatever format, has a generation to read."""
    try:
        with contextlib.closing(
            sqlite3.connect(f"{catalog_path(index_dir).as_uri()}?mode=ro", uri=True)
        ) as db:
            return db.execute("SELECT value FROM meta WHERE key='generation'").fetchone() != ("0",)
    except sqlite3.DatabaseError:
        return False


def with_grammar(index: Index) -> tuple[list[tuple[str, str, str]], int]:
    """Return file, path and language of all that dowse parsed, and their size."""
    with index:
        files = [f for f in index.contents.files() if f.language in LANGUAGES]
    return [(str(index.root / f.path), f.path, f.language) for f in files], sum(f.size for f in files)


def parse_only(jobs: list[tuple[str, str, str]], processes: int) -> tuple[float, float]:
    """Make every syntax tree; return wall and CPU seconds."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for _ in pool.imap_unordered(parse_one, jobs, chunksize=_CHUNK):
            pass
        pool.close()
        pool.join()
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def parse_one(job: tuple[str, str, str]) -> None:
    """Read a file and make its syntax tree, under the time limit that indexing has."""
    file, path, language = job
    data = Path(file).read_bytes()
    compile_grammar(LANGUAGES[language].grammar_for(path)).parse(data, parse_seconds(len(data)))


def change_and_run(copy: Path, command: list[Any], *, edit: bool) -> tuple[float, float]:
    """Change every hundredth file (its time only, or its text too) and update."""
    files = sorted(f.path for f in walk(copy) if isinstance(f, WalkedFile))
    # An old time: the index does not trust one of the last two seconds and would look again.
    stamp = time.time() - 60
    for path in files[::CHANGED_STEP]:
        if edit:
            with (copy / path).open("ab") as file:
                file.write(b"\n")
        os.utime(copy / path, (stamp, stamp))
    return run(command)[:2]


def describe(copy: Path, index_dir: Path, jobs: list[Any], size: int) -> dict[str, Any]:
    """Say how much there was to do."""
    with Index.open(copy, index_dir=str(index_dir)) as index:
        status = index.status()
    facts = {key: status[key] for key in ("files", "symbols", "source_bytes", "index_bytes")}
    return {**facts, "parsed_files": len(jobs), "parsed_bytes": size}


def compare(steps: dict[str, Timing], processes: int) -> dict[str, Any]:
    """Set the steps in relation."""

    def ratio(a: str, b: str, key: str = "wall_s") -> float:
        """Divide one step by another."""
        return round(steps[a][key] / steps[b][key], 4)

    same = f"parse, {processes} processes"
    ratios = {
        f"words / {same}": ratio("words", same),
        "full / parse, one process": ratio("full", "parse, one process"),
        f"full / {same}": ratio("full", same),
        f"full / {same}, CPU": ratio("full", same, "cpu_s"),
        "no change / full": ratio("no change", "full"),
        "1 % touched / full": ratio("1 % touched", "full"),
        "1 % edited / full": ratio("1 % edited", "full"),
    }
    bars = {
        f"words / {same}": WORDS_BAR,
        "full / parse, one process": FULL_BAR,
        f"full / {same}": FULL_BAR,
        "no change / full": NO_CHANGE_BAR,
    }
    return {"ratios": ratios, "bars": bars, "met": {name: ratios[name] <= bar for name, bar in bars.items()}}


if __name__ == "__main__":
    main()
