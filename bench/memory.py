"""Peak memory of indexing a large tree, summed over all processes that take part.

    python bench/memory.py --tree DIR [--tree DIR …] [--out bench/results/memory.json]

The folders are put beside each other (as hard links where the file system allows) and indexed as one tree.
`rss` counts shared and file-backed pages once for every process that maps them, so it is the strictest
figure; `pss` divides shared pages among their users; `anonymous` leaves out pages of mapped files, which the
system takes back when it needs them. The bar is on `rss`. Linux only: the figures are those of /proc.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dowse import Index
from dowse.source.walk import WalkedFile, walk

from common import beside_python, gather, work_folder, write_results

BAR_BYTES = 800_000_000
MIN_SOURCE_BYTES = 1_000_000_000
# The kernel walks every page table for PSS: once in so many samples keeps the measuring cheap.
_PSS_EVERY = 10
_FIELDS = {"VmRSS:": "rss", "RssAnon:": "anonymous"}


@dataclass
class Peaks:
    """The largest sums seen."""

    values: dict[str, int] = field(default_factory=dict)
    by_process: list[int] = field(default_factory=list)  # rss at its peak, largest first
    samples: int = 0

    def take(self, sample: dict[str, int], processes: list[int]) -> None:
        """Remember what is larger than before."""
        self.samples += 1
        if sample.get("rss", 0) > self.values.get("rss", 0):
            self.by_process = sorted(processes, reverse=True)
        for name, value in sample.items():
            self.values[name] = max(value, self.values.get(name, 0))


def main() -> None:
    """Join the trees, index them, watch."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, action="append", required=True, help="may be repeated")
    parser.add_argument("--dowse", type=Path, default=beside_python(), help="the command to measure")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--interval", type=float, default=0.05, help="seconds between samples")
    parser.add_argument("--work", type=Path, help="links and index here (default: a temporary folder)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with work_folder(options.work) as work:
        joined, index_dir = work / "tree", work / "index"
        for tree in options.tree:
            gather(
                tree, (f.path for f in walk(tree) if isinstance(f, WalkedFile)), joined / tree.resolve().name
            )
        command = [options.dowse, "index", joined, "--index-dir", index_dir]
        started = time.perf_counter()
        os.environ["DOWSE_PROCESSES"] = str(options.processes)
        peaks = watch([*command, "--no-embed", "--quiet"], options.interval)
        results = report(peaks, time.perf_counter() - started, joined, index_dir)
    results["trees"] = [tree.resolve().name for tree in options.tree]
    results["processes"] = options.processes
    print(json.dumps(results, indent=1))
    if options.out:
        write_results(options.out, results)


def watch(command: list[Any], interval: float) -> Peaks:
    """Run a command and sample the memory of its process tree until it ends."""
    peaks = Peaks()
    process = subprocess.Popen(command)
    while process.poll() is None:
        with_pss = peaks.samples % _PSS_EVERY == 0
        sums: dict[str, int] = {}
        sizes = []
        for pid in family(process.pid):
            found = memory_of(pid, with_pss)
            sizes.append(found.get("rss", 0))
            for name, value in found.items():
                sums[name] = sums.get(name, 0) + value
        peaks.take(sums, sizes)
        time.sleep(interval)
    if process.returncode:
        raise SystemExit(f"{command[0]} failed with {process.returncode}")
    return peaks


def family(pid: int) -> list[int]:
    """Return a process and all below it."""
    found = [pid]
    for member in found:
        try:
            tasks = os.listdir(f"/proc/{member}/task")
            for task in tasks:
                children = Path(f"/proc/{member}/task/{task}/children").read_text().split()
                found.extend(map(int, children))
        except OSError:
            continue  # it has just ended
    return found


def memory_of(pid: int, with_pss: bool) -> dict[str, int]:
    """Return what the kernel says of one process, in bytes."""
    found = _kilobytes(f"/proc/{pid}/status", _FIELDS)
    if with_pss:
        found |= _kilobytes(f"/proc/{pid}/smaps_rollup", {"Pss:": "pss"})
    return found


def _kilobytes(file: str, fields: dict[str, str]) -> dict[str, int]:
    """Read the named lines of a /proc file; nothing if the process has ended or is not ours to ask."""
    try:
        lines: Iterable[list[str]] = [line.split() for line in Path(file).read_text().splitlines()]
    except OSError:
        return {}
    return {fields[words[0]]: int(words[1]) * 1024 for words in lines if words and words[0] in fields}


def report(peaks: Peaks, seconds: float, joined: Path, index_dir: Path) -> dict[str, Any]:
    """Say what was indexed and what it took."""
    with Index.open(joined, index_dir=str(index_dir)) as index:
        status = index.status()
    if status["source_bytes"] < MIN_SOURCE_BYTES:
        print(f"warning: the bar is about {MIN_SOURCE_BYTES:,} bytes or more", file=sys.stderr)
    return {
        **{key: status[key] for key in ("files", "symbols", "source_bytes", "index_bytes")},
        "seconds": round(seconds, 1),
        "samples": peaks.samples,
        "peak_bytes": peaks.values,
        "rss_by_process_at_peak": peaks.by_process,
        "bar_bytes": BAR_BYTES,
        "met": peaks.values["rss"] <= BAR_BYTES and status["source_bytes"] >= MIN_SOURCE_BYTES,
    }


if __name__ == "__main__":
    main()
