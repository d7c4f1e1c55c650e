"""Other systems: an installation is tried as the workflow does it, and nothing needs what only POSIX has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Runs dowse in a process without the modules and functions that Windows lacks. What others need of them is
# imported before; locking is Windows' own function there.
WITHOUT_POSIX = """
import asyncio, concurrent.futures.process, multiprocessing, os, socket, subprocess, sys, types, numpy
for name in "fcntl grp posix_ipc pty pwd resource termios tty".split():
    sys.modules[name] = None
sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, LK_UNLCK=0, locking=lambda *of: None)
gone = "chown fchmod fork geteuid getpgid getpgrp getuid killpg memfd_create nice posix_spawn pread pwrite"
for name in (*gone.split(), "setsid", "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_PATH"):
    if hasattr(os, name):
        delattr(os, name)
del socket.AF_UNIX
from dowse.interfaces.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["index"], "added"),
        (["search", "read an order"], "parse_order"),
        (["search", r"/def \w+_order/"], "parse_order"),
        (["callers", "orders.parse_order"], "calls, resolved"),
        (["status"], "symbols"),
    ],
)
def test_without_what_only_posix_has(
    arguments: list[str], expected: str, sample: Path, tmp_path: Path
) -> None:
    place = [str(sample), "--index-dir", str(tmp_path / "index")]
    if arguments[0] not in ("index", "search"):
        subprocess.run(
            [sys.executable, "-c", WITHOUT_POSIX, "index", *place], check=True, capture_output=True
        )
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_POSIX, *arguments, *place], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and expected in done.stdout + done.stderr, done.stderr


@pytest.mark.large
def test_the_check_of_the_workflow_passes_here() -> None:
    environment = {**os.environ, "DOWSE_ENCODER": "base"}
    command = [sys.executable, ROOT / "scripts/platform_check.py"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
