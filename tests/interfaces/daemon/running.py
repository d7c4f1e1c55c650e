"""A real `dowse watch` or `dowse serve`, and real commands that ask it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

COMMAND = [sys.executable, "-m", "dowse.entry"]
# Ends with 99 where no warm process has answered.
ASK_ONLY = """import sys
from dowse.interfaces.daemon.client import run_in_daemon
code = run_in_daemon(sys.argv[1:])
sys.exit(99 if code is None else code)"""
# Of the tiny repository.
QUESTION = ("search", "alpha", "-k1")
NOT_ANSWERED = 99
DEADLINE = 300.0


@contextlib.contextmanager
def running(
    command: str, *arguments: object, cwd: Path, ready: str, **environment: str
) -> Iterator[subprocess.Popen[str]]:
    """Run a command until the end of the block; begin when it has said something and listens."""
    process = subprocess.Popen(
        [*COMMAND, command, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        for line in process.stdout:
            if ready in line:
                break
        else:
            raise AssertionError(f"it ended with {process.wait()}")
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=DEADLINE)


def dowse(*arguments: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command as people do."""
    return _run([*COMMAND, *map(str, arguments)], cwd, environment)


def ask(*arguments: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Have a warm process run a command, and nobody else."""
    return _run([sys.executable, "-c", ASK_ONLY, *map(str, arguments)], cwd, environment)


def wait_for_answers(*arguments: object, cwd: Path, **environment: str) -> None:
    """Wait until a warm process answers."""
    end = time.monotonic() + DEADLINE
    while ask(*arguments, cwd=cwd, **environment).returncode == NOT_ANSWERED:
        assert time.monotonic() < end


def _run(command: list[str], cwd: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=DEADLINE,
        check=False,
    )


def sockets(cache: Path) -> list[Path]:
    """Return the sockets there are."""
    return sorted((cache / "run").glob("*.sock"))
