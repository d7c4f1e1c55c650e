"""Regex and phrase search on a large tree: dowse beside ripgrep and, where its programs are given, zoekt.

    python bench/exact_speed.py --tree DIR [--zoekt PATH --zoekt-index PATH] [--out FILE]

All see the same files: those that dowse indexed, hard-linked into a folder of their own. dowse is measured
warm (one process, as a server or library would be) and as a command, each with all lines and with the ten
best places. The lines that dowse finds are compared with ripgrep's, one by one: no difference is allowed.
zoekt's programs are ones built from its source.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dowse import Index

from common import beside_python, gather, run, work_folder, write_results

Place = tuple[str, int]
_FOUND_OR_NOT = (0, 1)
# A pattern that has taken this many seconds is not asked for more than twice.
_PATIENCE = 60


@dataclass(frozen=True, slots=True)
class Pattern:
    """What to look for; smart case, as dowse and `rg -S` have it."""

    name: str
    text: str
    literal: bool = False  # a phrase of the query language, not a regex

    @property
    def query(self) -> str:
        """The pattern as dowse's query."""
        return f'"{self.text}"' if self.literal else self.text

    @property
    def mode(self) -> str:
        """The mode in which dowse reads the query."""
        return "auto" if self.literal else "regex"


PATTERNS = (
    Pattern("rare literal", "EADDRNOTAVAIL"),
    Pattern("literal", "RoundTripper"),
    Pattern("common literal", "Deprecated"),
    Pattern("very common literal", "return"),
    Pattern("identifier", r"\bnew[A-Z]\w+Error\b"),
    Pattern("alternation", r"(timeout|deadline|quota) exceeded"),
    Pattern("case-insensitive", r"(?i)out[ _-]?of[ _-]?memory"),
    Pattern("classes only", r"[A-Z][a-z]+[0-9]{3}[A-Z]+[a-z]+"),
    Pattern("no match", "zqxjkvbw_never"),
    Pattern("whole word", r"\bmutex\b"),
    Pattern("phrase", "must not be empty", literal=True),
    Pattern("phrase with capitals", "Licensed under the Apache License", literal=True),
    Pattern("anchored", r"^func \(\w+ \*?\w+\) Close\(\) error"),
    Pattern("gap", r"retry.*backoff"),
    Pattern("two characters", r"~="),
    Pattern("outside ASCII", r"[→µé]\w"),
)


def main() -> None:
    """Index for everybody, then ask everybody."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--dowse", type=Path, default=beside_python(), help="the command to measure")
    parser.add_argument("--rg", default="rg", help="ripgrep")
    parser.add_argument("--zoekt", type=Path)
    parser.add_argument("--zoekt-index", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--work", type=Path, help="links and indexes here (default: a temporary folder)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with work_folder(options.work) as work:
        results = measure(options, work)
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def measure(options: argparse.Namespace, work: Path) -> dict[str, Any]:
    """Time every pattern with every tool."""
    with Index.open(options.tree, index_dir=str(work / "index")) as index:
        index.update()
        files = index.files()
        linked = work / "linked"
        if not linked.exists():
            gather(index.root, (file.path for file in files), linked)
        if options.zoekt_index:
            run([options.zoekt_index, "-index", work / "zoekt", linked])
        tools = Tools(index, linked, options, work)
        rows = {pattern.name: compare(pattern, tools, options.runs) for pattern in PATTERNS}
    return {
        "files": len(files),
        "source_bytes": sum(file.size for file in files),
        "runs": options.runs,
        "patterns": rows,
        "median_ratios": summary(rows),
        "differing_lines": sum(row["differing_lines"] for row in rows.values()),
    }


class Tools:
    """Every way to search, by name."""

    def __init__(self, index: Index, linked: Path, options: argparse.Namespace, work: Path) -> None:
        self.index = index
        self._linked, self._options, self._work = linked, options, work

    def of(self, pattern: Pattern) -> dict[str, Callable[[], object]]:
        """Return what to run for one pattern."""
        found: dict[str, Callable[[], object]] = {
            "dowse warm, all": lambda: self.warm(pattern, 0),
            "dowse warm, top 10": lambda: self.warm(pattern, 10),
            "dowse command, all": lambda: self.command(pattern, 0),
            "dowse command, top 10": lambda: self.command(pattern, 10),
            "rg": lambda: self.ripgrep(pattern),
        }
        if self._options.zoekt and self._options.zoekt_index:
            found["zoekt command"] = lambda: self.zoekt(pattern)
        return found

    def warm(self, pattern: Pattern, k: int) -> set[Place]:
        """Search in this process."""
        answer = self.index.search(pattern.query, k=k, mode=pattern.mode)
        return {(hit.symbol.path, match.line) for hit in answer.hits for match in hit.matches}

    def command(self, pattern: Pattern, k: int) -> bytes:
        """Search in a process of its own."""
        place = [self.index.root, "--index-dir", self._work / "index"]
        flags = ["--mode", pattern.mode, "-k", str(k)]
        return run([self._options.dowse, "search", pattern.query, *place, *flags], _FOUND_OR_NOT)[2]

    def ripgrep(self, pattern: Pattern) -> bytes:
        """Search with ripgrep, in all the files and nothing else; binary is what dowse left out."""
        flags = ["--no-config", "--no-ignore", "--hidden", "--text", "--smart-case", "--no-heading"]
        form = ["--line-number", "--with-filename", "--null", "--color=never"]
        fixed = ["--fixed-strings"] if pattern.literal else []
        command = [self._options.rg, *flags, *form, *fixed, "-e", pattern.text, "."]
        done = subprocess.run(command, cwd=self._linked, capture_output=True, check=False)
        if done.returncode not in _FOUND_OR_NOT:
            raise SystemExit(f"rg failed: {done.stderr.decode(errors='replace')[-500:]}")
        return done.stdout

    def zoekt(self, pattern: Pattern) -> bytes:
        """Search with zoekt in a process of its own; smart case is its default too."""
        text = re_escaped(pattern.text) if pattern.literal else pattern.text
        quoted = text.replace("\\", "\\\\").replace('"', '\\"')
        command = [self._options.zoekt, "-index_dir", self._work / "zoekt", f'content:"{quoted}"']
        return run(command, _FOUND_OR_NOT)[2]


def compare(pattern: Pattern, tools: Tools, runs: int) -> dict[str, Any]:
    """Check the lines, then time each tool, taking turns."""
    differing = difference(tools.warm(pattern, 0), ripgrep_places(tools.ripgrep(pattern)))
    ways = tools.of(pattern)
    times: dict[str, list[float]] = {name: [] for name in ways}
    begun = time.perf_counter()
    for turn in range(runs):
        if turn > 1 and time.perf_counter() - begun > _PATIENCE:
            break
        for name, search in ways.items():
            started = time.perf_counter()
            search()
            times[name].append(time.perf_counter() - started)
    medians = {name: round(statistics.median(taken) * 1000, 2) for name, taken in times.items()}
    row = {
        "pattern": pattern.query,
        "lines": differing[0],
        "differing_lines": differing[1],
        "ms": medians,
        "rg_over_dowse": {
            n: round(medians["rg"] / ms, 2) for n, ms in medians.items() if n.startswith("dowse")
        },
    }
    if "zoekt command" in medians:
        row["zoekt_over_dowse"] = round(medians["zoekt command"] / medians["dowse command, all"], 2)
    print(pattern.name, json.dumps(row, ensure_ascii=False), file=sys.stderr, flush=True)
    return row


def ripgrep_places(output: bytes) -> set[Place]:
    """Read paths and line numbers from ripgrep's output."""
    places = set()
    for line in output.split(b"\n"):
        path, null, rest = line.partition(b"\0")
        if null:
            places.add(
                (path.decode(errors="backslashreplace").removeprefix("./"), int(rest.partition(b":")[0]))
            )
    return places


def difference(ours: set[Place], theirs: set[Place]) -> tuple[int, int]:
    """Return how many lines ripgrep found and on how many the two disagree, naming some of those."""
    for name, some in (("only dowse", ours - theirs), ("only rg", theirs - ours)):
        for path, line in sorted(some)[:5]:
            print(f"  {name}: {path}:{line}", file=sys.stderr)
    return len(theirs), len(ours ^ theirs)


def re_escaped(text: str) -> str:
    """Return a regex for a literal."""
    return "".join(c if c.isalnum() or c == " " else f"\\{c}" for c in text)


def summary(rows: dict[str, dict[str, Any]]) -> dict[str, float]:
    """Return the median over the patterns of ripgrep's time over each of ours, and of zoekt's."""
    names = next(iter(rows.values()))["rg_over_dowse"]
    ratios = {
        f"rg / {name}": statistics.median(row["rg_over_dowse"][name] for row in rows.values())
        for name in names
    }
    zoekt = [row["zoekt_over_dowse"] for row in rows.values() if "zoekt_over_dowse" in row]
    if zoekt:
        ratios["zoekt command / dowse command, all"] = statistics.median(zoekt)
    return {name: round(value, 2) for name, value in ratios.items()}


if __name__ == "__main__":
    main()
