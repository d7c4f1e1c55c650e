"""What killed processes left is removed by the next one; nothing of others, and nothing that is in use."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dowse.errors import DowseError
from dowse.interfaces.cli import stop_command
from dowse.security.leftovers import remove_leftovers, temporary_folder
from dowse.security.safe_files import make_private_directory, write_atomically

posix_only = pytest.mark.skipif(os.name != "posix", reason="by means of POSIX")


@pytest.fixture(scope="module")
def dead() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def make_old(path: Path) -> Path:
    """Date a path back by two days."""
    os.utime(path, (time.time() - 172_800,) * 2)
    return path


@posix_only
def test_temporary_folders_of_killed_processes_go(tmp_path, dead):
    names = (f"dowse-x-{dead}-a", f"dowse-x-{dead}-b", f"dowse-x-{os.getpid()}-c", "y")
    old, new, own, other = (tmp_path / name for name in names)
    for folder in (old, new, own, other):
        folder.mkdir()
        (folder / "file").write_text("x")
    for folder in (old, own, other):
        make_old(folder)
    with temporary_folder("dowse-x-", tmp_path) as made:
        assert made.is_dir() and not old.exists()
    assert not made.exists() and new.exists() and own.exists() and other.exists()


@posix_only
def test_files_that_were_never_renamed_go(tmp_path, dead):
    left = tmp_path / f"state.json.{dead}.new"
    left.write_text("half")
    make_old(left)
    write_atomically(tmp_path / "state.json", b"whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state.json"]


@posix_only
def test_a_link_is_removed_not_followed(tmp_path, dead):
    (tmp_path / "mine").mkdir()
    link = tmp_path / f"dowse-x-{dead}-a"
    link.symlink_to(tmp_path / "mine")
    os.utime(link, (0, 0), follow_symlinks=False)
    remove_leftovers(tmp_path, "dowse-x-")
    assert (tmp_path / "mine").is_dir() and not link.is_symlink()


@posix_only
def test_a_folder_that_becomes_a_link_keeps_the_rights_of_its_target(tmp_path, monkeypatch):
    target, shared = tmp_path / "target", tmp_path / "shared"
    target.mkdir(mode=0o755)
    shared.mkdir(mode=0o755)
    status = shared.lstat()
    shared.rmdir()
    shared.symlink_to(target)
    monkeypatch.setattr(Path, "lstat", lambda _: status)  # it was a folder a moment ago
    with pytest.raises((OSError, DowseError)):
        make_private_directory(shared)
    monkeypatch.undo()
    assert stat.S_IMODE(target.stat().st_mode) == 0o755


@posix_only
def test_stop_names_no_process_that_is_gone(monkeypatch, dead):
    monkeypatch.setattr(stop_command, "stop_resident", lambda: None)
    monkeypatch.setattr(stop_command, "resident_pid", lambda: dead)
    with pytest.raises(DowseError) as raised:
        stop_command.run(None)
    assert str(dead) not in str(raised.value)
