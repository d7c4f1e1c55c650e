"""Exit codes are never wrong: 1 is "nothing found"; whatever fails is 2, in one line with a remedy."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from dowse.interfaces.cli.main import exit_code

from helpers import write_tree

posix_only = pytest.mark.skipif(os.name != "posix", reason="closes streams by a shell")


def shell(script: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of a shell, in which $DOWSE is the command."""
    environment = {**os.environ, "DOWSE_ENCODER": "none", "DOWSE_RESIDENT_MINUTES": "0"}
    environment["DOWSE"] = f"{sys.executable} -m dowse.interfaces.cli.main"
    return subprocess.run(
        ["bash", "-c", script], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "tree", {"a.py": "def heat_oven(x):\n    return x\n"})


@posix_only
def test_closed_streams(tree):
    assert shell("$DOWSE index -q", tree).returncode == 0
    closed = shell("$DOWSE search heat oven >&-", tree)
    assert (closed.returncode, closed.stderr.count("\n")) == (2, 1) and "standard output" in closed.stderr
    found = shell("$DOWSE search heat oven 2>&-", tree)
    assert found.returncode == 0 and "heat_oven" in found.stdout
    assert shell("$DOWSE search heat oven >&- 2>&- <&-", tree).returncode == 2


@posix_only
def test_a_deleted_working_directory(tree):
    gone = 'mkdir gone && cd gone && rmdir "$PWD" && $DOWSE '
    failed = shell(gone + "search heat", tree)
    assert failed.returncode == 2 and failed.stderr.count("\n") == 1
    assert "current folder does not exist" in failed.stderr
    assert "heat_oven" in shell(gone + f"search heat {tree}", tree).stdout


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "free some space"),
        (OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)), "quota"),
        (PermissionError(errno.EACCES, "Permission denied", "/x"), "permissions"),
        (ValueError("An IO error occurred: 'No space left on device (os error 28)'"), "free some space"),
        (ValueError('Failed to open: Os { code: 24, kind: Uncategorized, message: "…" }'), "ulimit -n"),
        (MemoryError(), "free some memory"),
    ],
)
def test_errors_of_the_system_by_whoever_reports_them(capsys, error, remedy):
    def fail() -> int:
        raise error

    assert exit_code(fail) == 2
    stderr = capsys.readouterr().err
    assert stderr.startswith("dowse: ") and remedy in stderr and stderr.count("\n") == 1


def test_a_full_disk_as_sqlite_reports_it(tmp_path, capsys):
    database = sqlite3.connect(tmp_path / "x.sqlite")
    database.execute("PRAGMA max_page_count = 1")

    def fill() -> int:
        database.execute("CREATE TABLE t (x)")
        return 0

    assert exit_code(fill) == 2
    assert "free some space" in capsys.readouterr().err


def test_a_fault_of_ours_is_no_missing_result(capsys):
    assert exit_code(lambda: {}["missing"]) == 2
    stderr = capsys.readouterr().err
    assert "Traceback" in stderr and "report it" in stderr.splitlines()[-1]
