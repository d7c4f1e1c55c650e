"""Regex and phrase search of a warm process beside ripgrep over the same files, taking turns.

    python bench/exact_speed.py --tree DIR [--rg PATH] [--runs 5] [--out FILE]

The files are those that dowse indexed, linked into a folder of their own. The lines that dowse finds are
compared with ripgrep's one by one; then dowse is asked for the ten best places, and ripgrep, which ranks
none, for all lines.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from dowse import Index

from common import gather, work_folder, write_results


class Pattern(NamedTuple):
    """What to look for; smart case, as dowse and `rg -S` have it."""

    text: str
    phrase: bool = False


PATTERNS = {
    "rare literal": Pattern("EADDRNOTAVAIL"),
    "literal": Pattern("RoundTripper"),
    "common literal": Pattern("Deprecated"),
    "very common literal": Pattern("return"),
    "identifier": Pattern(r"\bnew[A-Z]\w+Error\b"),
    "alternation": Pattern(r"(timeout|deadline|quota) exceeded"),
    "case-insensitive": Pattern(r"(?i)out[ _-]?of[ _-]?memory"),
    "classes only": Pattern(r"[A-Z][a-z]+[0-9]{3}[A-Z]+[a-z]+"),
    "no match": Pattern("zqxjkvbw_never"),
    "whole word": Pattern(r"\bmutex\b"),
    "phrase": Pattern("must not be empty", phrase=True),
    "phrase with capitals": Pattern("Licensed under the Apache License", phrase=True),
    "anchored": Pattern(r"^func \(\w+ \*?\w+\) Close\(\) error"),
    "gap": Pattern(r"retry.*backoff"),
    "two characters": Pattern(r"~="),
    "outside ASCII": Pattern(r"[→µé]\w"),
}
_RIPGREP = (
    "--no-config --no-ignore --hidden --text --smart-case --no-heading --line-number --with-filename --null"
)


def main() -> None:
    """Compare the lines of every pattern, then the times."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--rg", default="rg")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--work", type=Path, help="links and index here (default: a temporary folder)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with (
        work_folder(options.work) as work,
        Index.open(options.tree, index_dir=str(work / "index"), encoder="none") as index,
    ):
        index.update()
        files = index.contents.files()
        if not (work / "linked").exists():
            gather(index.root, (file.path for file in files), work / "linked")
        rows = {
            name: compare(index, pattern, [options.rg, *_RIPGREP.split()], work / "linked", options.runs)
            for name, pattern in PATTERNS.items()
        }
    results = {
        "files": len(files),
        "source_bytes": sum(file.size for file in files),
        "patterns": rows,
        "differing_lines": sum(row["differing_lines"] for row in rows.values()),
    }
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def compare(index: Index, pattern: Pattern, ripgrep: list[str], linked: Path, runs: int) -> dict[str, object]:
    """Return on how many lines the two differ, and their median times."""
    query = f'"{pattern.text}"' if pattern.phrase else pattern.text
    fixed = ["--fixed-strings"] if pattern.phrase else []

    def ours(k: int) -> set[tuple[str, int]]:
        answer = index.search(query, k=k, mode="auto" if pattern.phrase else "regex")
        return {(hit.symbol.path, match.line) for hit in answer.hits for match in hit.matches}

    def theirs() -> bytes:
        command = [*ripgrep, *fixed, "-e", pattern.text, "."]
        return subprocess.run(command, cwd=linked, capture_output=True, check=False).stdout

    differing = ours(0) ^ _places(theirs())
    for path, line in sorted(differing)[:5]:
        print(f"differs: {path}:{line}", file=sys.stderr)
    times = [(_milliseconds(lambda: ours(10)), _milliseconds(theirs)) for _ in range(runs)]
    dowse, rg = (round(statistics.median(each), 2) for each in zip(*times, strict=True))
    return {
        "differing_lines": len(differing),
        "ms": {"dowse warm, top 10": dowse, "rg": rg},
        "rg_over_dowse": {"dowse warm, top 10": round(rg / dowse, 2)},
    }


def _places(output: bytes) -> set[tuple[str, int]]:
    """Read paths and line numbers from ripgrep's output."""
    parted = [line.partition(b"\0") for line in output.split(b"\n")]
    return {
        (path.decode(errors="backslashreplace").removeprefix("./"), int(rest.partition(b":")[0]))
        for path, null, rest in parted
        if null
    }


def _milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - started)


if __name__ == "__main__":
    main()
