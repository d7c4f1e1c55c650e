"""Time to scan one file against its size: hundreds of generated shapes, each in sizes that double.

    python bench/scan_scaling.py [--only WORD] [--out bench/results/scan_scaling.json]

Every shape (bench/scan_shapes.py) goes through all that indexing does with a single file: reading, deciding
what it is, decoding, parsing, the record. It does so in a process of its own, with the limits on CPU time
and memory that a parsing process has. A file that hits one is cut into lines in a second process, and the
time of both counts. The growth exponent is the slope of CPU time over size, on a double logarithmic scale,
over the last two doublings: 1 is linear, 2 quadratic.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import multiprocessing
import os
import resource
import signal
import tempfile
import time
from math import inf, log
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from dowse.indexing.parse_jobs import Job
from dowse.indexing.parse_worker import limit_memory, parse_path
from dowse.parsing.grammar import compile_grammar
from dowse.parsing.languages import LANGUAGES
from dowse.parsing.limits import file_seconds
from scan_shapes import Shape, all_shapes

from common import write_results

SIZES = (50_000, 100_000, 200_000, 400_000, 800_000)
# Steeper than this is not linear; the rest is for caches, memory and noise.
EXPONENT_BAR = 1.25
# Times below this say more about the machine than about the code.
NOISE_SECONDS = 0.1
# A shape above the bar is measured again so often, and the best times count: other work on the machine makes
# the large sizes slower than the small ones, which fit into its caches.
SECOND_LOOKS = 3
# It is measured in larger sizes too, up to about what dowse indexes: a grammar whose error recovery is slow
# may take longer and longer until it reaches the limit.
LARGEST = 800_000
# How a process ends that reaches the limit of its CPU time.
CPU_SIGNAL = "SIGPROF"
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
    results = {"sizes": options.sizes, **summary(rows)}
    print(json.dumps({key: value for key, value in results.items() if key != "shapes"}, indent=1))
    if options.out:
        write_results(options.out, results)


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the table and what it says."""
    return {
        "shapes_measured": len(rows),
        "exponent_bar": EXPONENT_BAR,
        "super_linear": [row["name"] for row in rows if row["exponent"] > EXPONENT_BAR],
        "ended_by_the_limit": [row["name"] for row in rows if row["note"].startswith("killed")],
        "failed": {row["name"]: row["failed"] for row in rows if row["failed"]},
        "indexed_as_plain_lines": [row["name"] for row in rows if "plain lines" in row["note"]],
        "slowest_s": max(max(row["seconds"]) for row in rows),
        "largest_memory_mb": max(row["memory_mb"] for row in rows),
        "shapes": rows,
    }


def measure(shape: Shape, sizes: tuple[int, ...], repeats: int, folder: Path) -> dict[str, Any]:
    """Scan one shape in all sizes."""
    _warm(shape)
    scans = [scan(shape, size, repeats, folder) for size in sizes]
    for _ in range(SECOND_LOOKS):
        if exponent(sizes, [each.seconds for each in scans]) > EXPONENT_BAR:
            again = [scan(shape, size, repeats, folder) for size in sizes]
            scans = [min(pair) for pair in zip(scans, again, strict=True)]
    while exponent(sizes, [each.seconds for each in scans]) > EXPONENT_BAR and sizes[-1] < LARGEST:
        sizes = (*sizes, 2 * sizes[-1])
        scans.append(scan(shape, sizes[-1], repeats, folder))
    seconds = [round(each.seconds, 4) for each in scans]
    row = {
        "name": shape.name,
        "sizes": sizes,
        "seconds": seconds,
        "exponent": round(exponent(sizes, seconds), 2),
        "memory_mb": round(max(each.memory_mb for each in scans)),
        "note": scans[-1].note,
        "failed": next((each.failed for each in scans if each.failed), ""),
    }
    print(*row.values(), sep="  ", flush=True)
    return row


class Scan(NamedTuple):
    """How scanning one file went."""

    seconds: float
    memory_mb: float = 0.0
    note: str = ""  # why it is not indexed, or only as plain lines
    failed: str = ""  # how the process died that should not have


def scan(shape: Shape, size: int, repeats: int, folder: Path) -> Scan:
    """Scan one file as an update does: parse it, and cut it into lines if that takes too much CPU time."""
    file = folder / shape.path
    file.write_bytes(shape.content(size))
    job = Job("k", "r", shape.path, "", str(file), size, 1, "", False)
    done, used = _in_child(job, repeats)
    if isinstance(done, Scan):
        return done
    plain, _ = _in_child(job._replace(plain_reason=f"killed by {done}"), repeats)
    if not isinstance(plain, Scan):
        return Scan(2 * file_seconds(size), failed=f"killed by {done}, then by {plain}")
    # A grammar that gets no more memory dies by a signal of its own: is it that, or a crash?
    is_limit = done == CPU_SIGNAL or _in_child(job, 1, limited=False)[0] != done
    return plain._replace(seconds=plain.seconds + used, failed="" if is_limit else plain.note)


def _in_child(job: Job, repeats: int, *, limited: bool = True) -> tuple[Scan | str, float]:
    """Scan in a process with the limits of a parsing process.

    Returns:
        How it went, or the name of the signal that ended it; and the CPU time of the process.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_scan, args=(job, repeats, limited, sender))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child.start()
    sender.close()
    done: Scan | str = ""
    with contextlib.suppress(EOFError):
        done = receiver.recv()
    child.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = child.exitcode or 0
    if not done:
        done = signal.Signals(-code).name if code < 0 else f"exit {code}"
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _scan(job: Job, repeats: int, limited: bool, sender: Connection) -> None:
    """Scan a file and send how it went; the best time counts."""
    gc.disable()  # as the parsing process does
    if limited:
        limit_memory()
    best = inf
    for _ in range(repeats):
        signal.setitimer(signal.ITIMER_PROF, file_seconds(job.size))
        started = time.process_time()
        reply = parse_path(job)
        took = time.process_time() - started
        best = min(best, took)
        if took > REPEAT_BELOW:
            break
    signal.setitimer(signal.ITIMER_PROF, 0)
    note = reply.records[0].problem if reply.records else reply.reason
    sender.send(Scan(best, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, note))
    sender.close()
    os._exit(0)


def exponent(sizes: tuple[int, ...], seconds: list[float]) -> float:
    """Return the slope over the last two doublings; 0 where times are noise."""
    if len(seconds) < 3 or seconds[-1] < NOISE_SECONDS:
        return 0.0
    first = max(seconds[-3], NOISE_SECONDS / 4)
    return log(seconds[-1] / first) / log(sizes[-1] / sizes[-3])


def _warm(shape: Shape) -> None:
    """Load the grammar before the processes part, so that no measured time holds it."""
    for language in LANGUAGES.values():
        if shape.path.endswith(language.extensions):
            compile_grammar(language.grammar_for(shape.path))


if __name__ == "__main__":
    main()
