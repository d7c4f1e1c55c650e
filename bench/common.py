"""What every benchmark shares: a result file names its command, commit and machine."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path


def write_results(path: Path, results: dict[str, object]) -> None:
    """Write results beside what one needs to make them again."""
    from dowse.eval.about import about  # not before: some benchmarks measure what is loaded

    path.parent.mkdir(parents=True, exist_ok=True)
    known = {"about": about(["python", *sys.argv]), "results": results}
    path.write_text(json.dumps(known, indent=1) + "\n")
    print(f"wrote {path}", file=sys.stderr)


def beside_python() -> Path:
    """Return the `dowse` command of the interpreter that runs the benchmark."""
    return Path(sys.executable).with_name("dowse")


@contextlib.contextmanager
def work_folder(chosen: Path | None) -> Iterator[Path]:
    """Give a folder for indexes and copies: the chosen one stays, a temporary one goes."""
    if chosen is not None:
        chosen.mkdir(parents=True, exist_ok=True)
        yield chosen.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="dowse-bench-") as folder:
        yield Path(folder)


def gather(root: Path, paths: Iterable[str], target: Path, *, copy: bool = False) -> None:
    """Put files of a tree under another folder: as hard links, or as copies that may be changed."""
    for path in paths:
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            if copy:
                raise OSError
            place.hardlink_to(root / path)
        except OSError:  # another file system, or a copy is wanted; times stay as they were
            shutil.copy2(root / path, place)


def git(folder: Path, *arguments: str) -> str:
    """Return the output of git, whatever bytes it has."""
    done = subprocess.run(["git", "-C", folder, *arguments], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def run(
    command: Sequence[str | os.PathLike[str]], accepted: tuple[int, ...] = (0,)
) -> tuple[float, float, bytes]:
    """Run a command to its end; return wall seconds, CPU seconds of all its processes, and its output."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, check=False)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in accepted:
        raise SystemExit(f"{command[0]} failed: {done.stderr.decode(errors='replace')[-500:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, done.stdout


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of some values lies."""
    ordered = sorted(values)
    return ordered[round(share * (len(ordered) - 1))]


def milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    """Return the median and the 95th percentile of some times, in milliseconds."""
    middle, p95 = statistics.median(seconds), percentile(seconds, 0.95)
    return {"p50_ms": round(middle * 1000, 3), "p95_ms": round(p95 * 1000, 3)}


def peak_megabytes() -> int:
    """Return the most memory that this process has had; `getrusage` may tell that of its parent."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    known = (int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))
    return next(known, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
