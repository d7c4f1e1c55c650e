"""Peak memory of indexing a large tree, summed over all processes that take part.

    python bench/memory.py --tree DIR [--tree DIR …] [--out FILE]

The folders are put beside each other (as hard links where the file system allows) and indexed as one tree.
`rss` counts shared and file-backed pages once for every process that maps them, so it is the strictest
figure; `pss` divides shared pages among their users. The bar is on `rss`. Linux only: the figures are those
of /proc.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from dowse import Index
from dowse.source.walk import WalkedFile, walk
from processes import family_megabytes

from common import beside_python, gather, work_folder, write_results

BAR_BYTES = 800_000_000
MIN_SOURCE_BYTES = 1_000_000_000
# The kernel walks every page table for PSS: once in so many samples keeps the measuring cheap.
_PSS_EVERY = 10


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


def watch(command: list[Any], interval: float) -> dict[str, Any]:
    """Run a command; return the largest sums of the memory of its processes, in bytes."""
    peaks = {"rss": 0.0, "pss": 0.0}
    samples = 0
    process = subprocess.Popen(command)
    while process.poll() is None:
        peaks["rss"] = max(peaks["rss"], family_megabytes(process.pid, proportional=False))
        if samples % _PSS_EVERY == 0:
            peaks["pss"] = max(peaks["pss"], family_megabytes(process.pid))
        samples += 1
        time.sleep(interval)
    if process.returncode:
        raise SystemExit(f"{command[0]} failed with {process.returncode}")
    return {"samples": samples, "peak_bytes": {name: round(peak * 2**20) for name, peak in peaks.items()}}


def report(peaks: dict[str, Any], seconds: float, joined: Path, index_dir: Path) -> dict[str, Any]:
    """Say what was indexed and what it took."""
    with Index.open(joined, index_dir=str(index_dir)) as index:
        status = index.status()
    if status["source_bytes"] < MIN_SOURCE_BYTES:
        print(f"warning: the bar is about {MIN_SOURCE_BYTES:,} bytes or more", file=sys.stderr)
    return {
        **{key: status[key] for key in ("files", "symbols", "source_bytes", "index_bytes")},
        "seconds": round(seconds, 1),
        **peaks,
        "bar_bytes": BAR_BYTES,
        "met": peaks["peak_bytes"]["rss"] <= BAR_BYTES and status["source_bytes"] >= MIN_SOURCE_BYTES,
    }


if __name__ == "__main__":
    main()
