"""Time to scan one file against its size: hundreds of generated shapes, each in sizes that double.

    python bench/scan_scaling.py [--only WORD] [--out bench/results/scan_scaling.json]

Every shape (bench/scan_shapes.py) goes through all that indexing does with a single file: reading, deciding
what it is, decoding, parsing, the record. It does so in a process of its own, which is killed when it takes
too long. The growth exponent is the slope of CPU time over size, on a double logarithmic scale, over the last
two doublings: 1 is linear, 2 quadratic.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from dowse.index.jobs import Job
from dowse.index.worker import parse_path
from dowse.parse.grammar import toolkit
from dowse.parse.languages import LANGUAGES
from scan_shapes import Shape, all_shapes

from common import write_results

SIZES = (50_000, 100_000, 200_000, 400_000, 800_000)
# Steeper than this is not linear; the rest is for caches, memory and noise.
EXPONENT_BAR = 1.25
# Times below this say more about the machine than about the code.
NOISE_SECONDS = 0.05
# CPU time that one size may take before its process is killed.
CPU_LIMIT = 20
# A fast run is repeated, and the best of all counts.
REPEAT_BELOW = 0.7


def main() -> None:
    """Measure all shapes and list those that are not linear."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="shapes whose name holds this")
    parser.add_argument("--sizes", type=lambda text: tuple(map(int, text.split(","))), default=SIZES)
    parser.add_argument("--repeats", type=int, default=2, help="of fast runs; the best counts")
    parser.add_argument("--every", type=int, default=1, help="measure every n-th shape only")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    shapes = [shape for shape in all_shapes() if options.only in shape.name][:: options.every]
    with tempfile.TemporaryDirectory(prefix="dowse-shapes-") as folder:
        rows = [measure(shape, options.sizes, options.repeats, Path(folder)) for shape in shapes]
    results = summary(rows)
    print(json.dumps({key: value for key, value in results.items() if key != "shapes"}, indent=1))
    if options.out:
        write_results(options.out, results)


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the table and what it says."""
    return {
        "shapes_measured": len(rows),
        "exponent_bar": EXPONENT_BAR,
        "super_linear": [row["name"] for row in rows if row["exponent"] > EXPONENT_BAR],
        "failed": {row["name"]: row["failed"] for row in rows if row["failed"]},
        "given_up": {row["name"]: row["problem"] for row in rows if row["problem"]},
        "slowest_s": max((row["seconds"][-1] for row in rows if row["seconds"]), default=0),
        "largest_memory_mb": max(row["memory_mb"] for row in rows),
        "shapes": rows,
    }


def measure(shape: Shape, sizes: tuple[int, ...], repeats: int, folder: Path) -> dict[str, Any]:
    """Scan one shape in all sizes, in a process of its own."""
    _warm(shape)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_scan_sizes, args=(shape, sizes, repeats, folder, sender))
    child.start()
    sender.close()
    seconds, problem, skipped, memory = [], "", "", 0.0
    try:
        while True:
            took, problem, skipped, memory = receiver.recv()
            seconds.append(round(took, 4))
    except EOFError:
        child.join()
    row = {
        "name": shape.name,
        "sizes": sizes[: len(seconds)],
        "seconds": seconds,
        "exponent": round(exponent(sizes, seconds), 2),
        "memory_mb": round(memory),
        "problem": problem,
        "skipped": skipped,
        "failed": _death(child.exitcode),
    }
    print(f"{row['name']:50} {row['exponent']:5} {seconds} {memory:.0f} MB {problem}{skipped}{row['failed']}")
    sys.stdout.flush()
    return row


def exponent(sizes: tuple[int, ...], seconds: list[float]) -> float:
    """Return the slope over the last two doublings; 0 where times are noise."""
    if len(seconds) < 3 or seconds[-1] < NOISE_SECONDS:
        return 0.0
    first, last = max(seconds[-3], NOISE_SECONDS / 8), seconds[-1]
    count = len(seconds)
    return math.log(last / first) / math.log(sizes[count - 1] / sizes[count - 3])


def _warm(shape: Shape) -> None:
    """Load the grammar before the processes part, so that no measured time holds it."""
    for language in LANGUAGES.values():
        if shape.path.endswith(language.extensions):
            toolkit(language.grammar_for(shape.path))


def _scan_sizes(shape: Shape, sizes: tuple[int, ...], repeats: int, folder: Path, sender: Connection) -> None:
    """Scan every size and send how it went."""
    gc.disable()  # as the parsing process does
    for size in sizes:
        file = folder / shape.path
        file.write_bytes(shape.content(size))
        job = Job("k", "r", shape.path, "", str(file), size, 1, "", False)
        used = math.ceil(time.process_time())
        resource.setrlimit(resource.RLIMIT_CPU, (used + CPU_LIMIT, resource.RLIM_INFINITY))
        best = math.inf
        for _ in range(repeats):
            started = time.process_time()
            reply = parse_path(job)
            took = time.process_time() - started
            best = min(best, took)
            if took > REPEAT_BELOW:
                break
        problem = reply.records[0].problem if reply.records else ""
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        sender.send((best, problem, reply.reason, memory))
    sender.close()
    os._exit(0)


def _death(code: int | None) -> str:
    """Return how a process ended, "" if well."""
    if not code:
        return ""
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit {code}"


if __name__ == "__main__":
    main()
