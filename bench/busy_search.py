"""Searches beside a build: how many answer by meaning in time while busy loops take all cores.

    python bench/busy_search.py REPOSITORY [--load 6 --searches 100] [--out bench/results/busy_search.json]

Cold searches start everything anew (`--no-daemon`); warm ones are answered by the process that a search
leaves. The loops run at niceness 10, as builds should; `--nice 0` gives them the same share as a search.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from common import milliseconds, work_folder, write_results

DOWSE = [sys.executable, "-m", "dowse.entry"]
QUERIES = ("parse cookie header", "where are requests retried", "read a configuration file", "open a session")
BAR_SECONDS = 2.0


def main() -> None:
    """Index, start the loops, search."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repository", type=Path)
    parser.add_argument("--load", type=int, default=6, help="busy loops")
    parser.add_argument("--nice", type=int, default=10, help="of the loops")
    parser.add_argument("--searches", type=int, default=100)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with work_folder(None) as folder:
        environment = {**os.environ, "DOWSE_CACHE_DIR": str(folder), "DOWSE_ENCODER": "base"}
        subprocess.run([*DOWSE, "index", "-q"], cwd=options.repository, env=environment, check=True)
        try:
            with busy_loops(options.load, options.nice):
                results = {
                    name: measure(options.repository, environment, options.searches, flags)
                    for name, flags in (("cold", ["--no-daemon"]), ("warm", []))
                }
        finally:
            subprocess.run([*DOWSE, "stop"], env=environment, stdout=subprocess.DEVNULL, check=False)
    results = {"load": options.load, "nice": options.nice, "bar_s": BAR_SECONDS, **results}
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def measure(
    repository: Path, environment: dict[str, str], count: int, flags: Sequence[str]
) -> dict[str, object]:
    """Search one after another; count the answers by meaning, and those of them in time."""
    seconds, by_meaning = list[float](), list[bool]()
    for number in range(count):
        began = time.perf_counter()
        command = [*DOWSE, "search", QUERIES[number % len(QUERIES)], "--json", *flags]
        found = subprocess.run(command, cwd=repository, env=environment, capture_output=True, check=True)
        seconds.append(time.perf_counter() - began)
        lanes = {each["lane"]: each for each in json.loads(found.stdout)["lanes"]}
        by_meaning.append("embedding" in lanes and not lanes["embedding"]["problem"])
    in_time = sum(taken <= BAR_SECONDS for taken, meant in zip(seconds, by_meaning, strict=True) if meant)
    slowest = round(1000 * max(seconds), 1)
    return {
        "searches": count,
        "by_meaning": sum(by_meaning),
        "in_time": in_time,
        **milliseconds(seconds),
        "max_ms": slowest,
    }


@contextlib.contextmanager
def busy_loops(count: int, niceness: int) -> Iterator[None]:
    """Keep processes busy until the end of the block."""
    program = f"import os; os.nice({niceness})\nwhile True: pass"
    loops = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


if __name__ == "__main__":
    main()
