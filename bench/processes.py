"""Processes: the time of a command, those that it starts, and their memory, read from /proc."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import threading
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MARK = "DOWSE_PEERS_RUN"
_SAMPLE_S = 0.05


@dataclass(frozen=True)
class Ran:
    """A command that was run."""

    seconds: float
    cpu: float  # of it and the processes that it waited for
    output: bytes
    peak_mb: float
    finished: bool


def timed(
    command: list[str], env: dict[str, str], limit: float | None = None, *, sample: bool = False
) -> Ran:
    """Run a command to its end; then end what it left running, so that the next one isn't disturbed."""
    mark = f"{_MARK}={uuid.uuid4().hex}"
    variables = {**os.environ, **env, _MARK: mark.partition("=")[2]}
    pipes: dict[str, Any] = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    }
    peak, ended = [0.0], threading.Event()
    watcher = threading.Thread(target=watch_memory, args=(mark.encode(), peak, ended))
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen(command, env=variables, start_new_session=True, **pipes)
    if sample:
        watcher.start()
    try:
        output, errors = process.communicate(timeout=limit)
        finished = True
    except subprocess.TimeoutExpired:
        finished = False
    seconds = time.perf_counter() - started
    ended.set()
    if sample:
        watcher.join()
    for left in marked(mark.encode()):
        with suppress(ProcessLookupError):
            os.kill(left, signal.SIGTERM)
    if not finished:
        output, errors = process.communicate()
    elif process.returncode not in (0, 1):  # 1: nothing found
        raise SystemExit(f"{command} failed: {errors.decode(errors='replace')[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ran(seconds, cpu, output, peak[0], finished)


def watch_memory(mark: bytes, peak: list[float], ended: threading.Event) -> None:
    """Keep the largest sum of the memory of all processes with a mark, in megabytes."""
    while not ended.wait(_SAMPLE_S):
        peak[0] = max(peak[0], sum(memory_megabytes(pid) for pid in marked(mark)))


def marked(mark: bytes) -> list[int]:
    """Return the processes that were started with a mark in their environment, detached ones too."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            if mark in (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found


def descendants(pid: int) -> list[int]:
    """Return all processes below another."""
    found = [pid]
    for each in found:
        for children in Path(f"/proc/{each}/task").glob("*/children"):
            with suppress(OSError):
                found += map(int, children.read_text().split())
    return found[1:]


def memory_megabytes(pid: int, *, proportional: bool = True) -> float:
    """Return the memory of a process; shared pages are divided among those that share them, or not."""
    file, name = ("smaps_rollup", "Pss:") if proportional else ("status", "VmRSS:")
    try:
        lines = Path(f"/proc/{pid}/{file}").read_text().splitlines()
    except OSError:  # it has ended
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(name)), 0.0)


def family_megabytes(pid: int, *, proportional: bool = True) -> float:
    """Return the memory of a process and all below it."""
    return sum(memory_megabytes(each, proportional=proportional) for each in [pid, *descendants(pid)])
