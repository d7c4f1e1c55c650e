"""From process start to answer: `dowse search` on an indexed tree beside `python -c pass`.

    python bench/startup.py --tree DIR [--dowse PATH --python PATH] [--out FILE]

The two take turns, so that whatever else the machine does hits both. Measure an ordinary installation
(`pip install .` in a fresh environment): an editable one may have no .pyc files, and compiling every
module anew is then most of the time. `--imports` lists what the command imports and how long that takes.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from common import beside_python, milliseconds, run, work_folder, write_results

# Times an empty Python.
BARS = {"dowse search": 15.0, "dowse search --mode keyword": 9.0}
_FOUND_OR_NOT = (0, 1)
_IMPORT_LINE = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \|\s+(\S+)")
_LISTED = 30
_COMPILED = "import dowse.interfaces.cli.main as m, os; print(os.path.exists(m.__cached__))"


def main() -> None:
    """Index once, then start processes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--query", default="parse configuration file")
    parser.add_argument("--dowse", type=Path, default=beside_python())
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--imports", action="store_true", help="list the slowest imports and measure nothing")
    parser.add_argument("--work", type=Path, help="index here (default: a temporary folder)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with work_folder(options.work) as work:
        place = [options.tree, "--index-dir", work / "index"]
        run([options.dowse, "index", *place, "--quiet"])
        search = [options.dowse, "search", options.query, *place, "--no-daemon"]  # each starts anew
        if options.imports:
            print(slowest_imports([options.python, "-X", "importtime", *search]))
            return
        results = measure(options.python, search, options.runs)
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def measure(python: Path, search: list[Any], runs: int) -> dict[str, Any]:
    """Run the commands in turn and compare their medians."""
    commands = {
        "python -c pass": [python, "-c", "pass"],
        "dowse --version": [search[0], "--version"],
        "dowse search": search,
        "dowse search --mode keyword": [*search, "--mode", "keyword"],
        "dowse search --mode keyword --refresh never": [*search, "--mode", "keyword", "--refresh", "never"],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            wall, _, _ = run(command, _FOUND_OR_NOT)
            if turn:  # the first turn fills the system's file cache
                times[name].append(wall)
    rows = {name: milliseconds(taken) for name, taken in times.items()}
    empty = rows["python -c pass"]["p50_ms"]
    ratios = {name: round(row["p50_ms"] / empty, 2) for name, row in rows.items()}
    compiled = run([python, "-c", _COMPILED])[2].strip() == b"True"
    if not compiled:
        print("warning: this installation has no .pyc files", file=sys.stderr)
    return {
        "runs": runs,
        "compiled": compiled,
        "times": rows,
        "ratios": ratios,
        "bars": BARS,
        "met": {name: ratios[name] <= bar for name, bar in BARS.items()},
    }


def slowest_imports(command: list[Any], runs: int = 7) -> str:
    """Return a table of modules by their own import time, and with all below them; the best of some runs."""
    best: dict[str, tuple[int, int]] = {}
    for _ in range(runs):
        told = subprocess.run(command, capture_output=True, text=True, check=False).stderr
        for own, below, name in _IMPORT_LINE.findall(told):
            known = best.get(name, (sys.maxsize, sys.maxsize))
            best[name] = (min(known[0], int(own)), min(known[1], int(below)))
    total = sum(own for own, _ in best.values()) / 1000
    lines = [f"{len(best)} modules, {total:.1f} ms; own ms, with all below, module"]
    for title, column in (("by own time", 0), ("with all below", 1)):
        lines.append(f"-- {title}")
        ordered = sorted(best.items(), key=lambda item: -item[1][column])[:_LISTED]
        lines += [f"{own / 1000:8.2f} {below / 1000:8.2f}  {name}" for name, (own, below) in ordered]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
