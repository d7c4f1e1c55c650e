"""Errors of the system at one call of a forked process, injected by strace."""

from __future__ import annotations

import collections
import os
import re
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

# Calls that write, sync, make, rename, remove or open.
CALLS = (
    "openat,write,pwrite64,ftruncate,fallocate,fsync,fdatasync,rename,renameat2,link,linkat,mkdir,mkdirat"
    ",unlink,unlinkat"
)
ERRORS = ("ENOSPC", "EDQUOT", "EIO", "EACCES", "EMFILE", "EFBIG")
_LINE = re.compile(r"(\d+) +(\w+)\((.*)")


class Injection(NamedTuple):
    """An error at the n-th call of a kind, or from that one on."""

    call: str
    number: int
    error: str
    is_lasting: bool = False


class Outcome(NamedTuple):
    """How a process ended."""

    code: int  # negative: the signal
    output: str
    errors: str
    injected: list[str]  # the calls that failed


def run(function: Callable[[], int], injection: Injection | None = None) -> Outcome:
    """Run a function in a process whose calls may fail, all of its children and threads included."""
    return _run(function, injection)[0]


def wrong_end(outcome: Outcome, output: str) -> str:
    """Return what is wrong with the end of a command that would print some output, "" for nothing."""
    if "Traceback" in outcome.errors or "panicked at" in outcome.errors:
        return "traceback"
    is_error = outcome.code == 2 and outcome.errors.rpartition("\ndowse: ")[2].count("\n") <= 1
    is_found = outcome.code == 0 and bool(outcome.output) == bool(output)
    return "" if is_error or is_found else "wrong exit code"


def calls_in(function: Callable[[], int], folder: Path) -> list[tuple[str, int]]:
    """Return which calls of a function name a folder: their kind, and which of their thread they are."""
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    found = {}
    for line in _run(function)[1].splitlines():
        if match := _LINE.match(line):
            thread, call, arguments = match.groups()
            counts[thread, call] += 1
            if str(folder) in arguments:
                found[call, counts[thread, call]] = None
    return list(found)


def _run(function: Callable[[], int], injection: Injection | None = None) -> tuple[Outcome, str]:
    output, errors = os.pipe(), os.pipe()
    pid = os.fork()
    if not pid:
        _become(function, output[1], errors[1])
    for _, writing in (output, errors):
        os.close(writing)
    os.waitpid(pid, os.WUNTRACED)
    with tempfile.NamedTemporaryFile("r", errors="replace") as log:
        command = ["strace", "-f", "-y", "-s", "1", "-o", log.name, "-e", f"trace={CALLS}", "-p", str(pid)]
        if injection:
            when = f"{injection.number}{'+' if injection.is_lasting else ''}"
            command += ["-e", f"inject={injection.call}:error={injection.error}:when={when}"]
        with subprocess.Popen(command, stderr=subprocess.PIPE) as tracer:
            assert tracer.stderr is not None
            assert b"attached" in tracer.stderr.readline()
            os.kill(pid, signal.SIGCONT)
            texts = [
                Path(f"/dev/fd/{reading}").read_text(errors="replace") for reading, _ in (output, errors)
            ]
            _, status = os.waitpid(pid, 0)
        for reading, _ in (output, errors):
            os.close(reading)
        calls = log.read()
    injected = [line for line in calls.splitlines() if "(INJECTED)" in line]
    return Outcome(os.waitstatus_to_exitcode(status), *texts, injected), calls


def _become(function: Callable[[], int], output: int, errors: int) -> None:
    """Be the process that runs a function, once a tracer is attached."""
    os.dup2(output, 1)
    os.dup2(errors, 2)
    sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))  # noqa: SIM115
    os.kill(os.getpid(), signal.SIGSTOP)
    signal.alarm(120)  # a hang is a fault too
    code = 1
    try:
        code = function()
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)
