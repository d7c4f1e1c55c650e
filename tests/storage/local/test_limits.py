"""An index where the system refuses something: the last generation answers, or one line says why."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from dowse import Index
from dowse.storage.local.catalog import FORMAT_VERSION

from helpers import contents, need, write_tree

FILES = {f"m{n}.py": f"def heat_oven_{n}(degrees):\n    return degrees * {n}\n" for n in range(6)}
NEW = "def cool_oven(x):\n    return x\n"

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="by means of Linux")


class World:
    """A tree with a change that its index does not have yet."""

    def __init__(self, base: Path, index: Path) -> None:
        self.root, self.index = write_tree(base / "tree", FILES), index
        with self.opened() as opened:
            opened.update()
        (self.root / "new.py").write_text(NEW)

    def opened(self) -> Index:
        return Index.open(self.root, index_dir=str(self.index), encoder="none")

    def run(self, command: str, *words: str, under: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
        """Run a command under another one."""
        dowse = [sys.executable, "-m", "dowse.interfaces.cli.main", command, *words, str(self.root)]
        return subprocess.run(
            [*under, *dowse, "--index-dir", str(self.index)],
            env={**os.environ, "DOWSE_ENCODER": "none", "DOWSE_RESIDENT_MINUTES": "0"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def answers(self, under: Sequence[str] = ()) -> str:
        """Return what a search says besides its results, which are those of the last generation."""
        found = self.run("search", "heat oven", under=under)
        assert found.returncode == 0 and "heat_oven" in found.stdout, found.stderr
        assert found.stderr.count("\n") <= 1
        return found.stderr

    def refuses(self, under: Sequence[str] = ()) -> str:
        """Return the one line with which an update fails; the index is as before."""
        failed = self.run("index", under=under)
        assert failed.returncode == 2 and failed.stderr.count("\n") == 1, failed.stderr
        assert not failed.stdout and "damaged" not in failed.stderr
        self.is_whole()
        return failed.stderr

    def is_whole(self) -> None:
        with self.opened() as index:
            assert index.backend.check() == [] and len(index.symbols("heat_oven_*", 100)) == len(FILES)

    def recovers(self) -> None:
        """Without the limit, an update works."""
        with self.opened() as index:
            index.update()
            assert index.symbols("cool_oven") and index.backend.check() == []


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path, tmp_path / "index")


def limited(option: str, value: int) -> list[str]:
    """Return the command that runs others under a limit."""
    return ["bash", "-c", f'ulimit {option} {value}; exec "$@"', "limited"]


def failing(world: World, calls: str, error: str) -> list[str]:
    """Return the command that runs others with failing system calls on the files of an index."""
    need("strace")
    names = ("catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm", "writer.lock")
    paths = [word for name in names for word in ("-P", str(world.index / name))]
    return ["strace", "-f", "-qq", "-o", os.devnull, *paths, "-e", f"inject={calls}:error={error}"]


@linux_only
@pytest.mark.parametrize("error", ["ENOLCK", "EOPNOTSUPP"])
def test_a_folder_without_locks_is_searched_and_not_written(world, error):
    """An update waited for ever, for a process that does not exist."""
    under = failing(world, "flock,fcntl", error)
    assert "without the latest changes" in world.answers(under)
    assert "can't be locked" in world.refuses(under)
    world.recovers()


@linux_only
@pytest.mark.parametrize(
    ("calls", "error", "remedy"), [("pwrite64", "EDQUOT", "quota"), ("fdatasync", "EIO", "disk")]
)
def test_a_write_that_fails(world, calls, error, remedy):
    under = failing(world, calls, error)
    assert remedy in world.refuses(under)
    assert "without the latest changes" in world.answers(under)
    world.recovers()


@linux_only
def test_few_open_files(world):
    """With the fewest that Python starts with, the index was called damaged, to be built again."""
    for files in (6, 7, 9):
        found = world.run("search", "heat oven", under=limited("-n", files))
        assert found.returncode in (0, 2) and found.stderr.count("\n") == 1, found.stderr
        assert "damaged" not in found.stderr and "Traceback" not in found.stderr
        assert found.returncode == 0 or "ulimit -n" in found.stderr
    assert "ulimit" in world.refuses(limited("-n", 10))
    world.recovers()


def test_a_read_only_disk(tmp_path, small_disk):
    world = World(tmp_path, small_disk / "index")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert "without the latest changes" in world.answers()
    assert "--index-dir" in world.refuses()
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    world.recovers()


@pytest.mark.parametrize("year", [1930, 2040, 2300])
def test_files_of_any_year(world, year):
    """A time after 2262 does not fit into SQLite's integers: no file of the tree could be indexed."""
    seconds = int((year - 1970) * 365.25 * 86_400)
    os.utime(world.root / "m0.py", (seconds, seconds))
    if abs((world.root / "m0.py").stat().st_mtime - seconds) > 1:
        pytest.skip("this disk has no such times")
    with world.opened() as index:
        index.update()
        assert not index.update().wrote
        text = FILES["m1.py"].replace("heat_oven_1", "warm_oven_")
        (world.root / "m1.py").write_text(text)
        os.utime(world.root / "m1.py", (seconds, seconds))
        assert index.update().changed == 1 and index.symbols("warm_oven_")


def test_a_clock_that_jumps(world, monkeypatch):
    now = time.time_ns()
    with world.opened() as index:
        for number, jump in enumerate((0, 10**9 * 86_400 * 365 * 30, -(10**9) * 86_400 * 365 * 30)):
            moved = now + jump
            monkeypatch.setattr(time, "time_ns", lambda moved=moved: moved)
            monkeypatch.setattr(time, "time", lambda moved=moved: moved / 1e9)
            (world.root / "new.py").write_text(NEW.replace("cool_oven", f"cool_oven_{number}"))
            index.update()
            assert [row.name for row in index.symbols("cool_oven*")] == [f"cool_oven_{number}"]
            assert not index.update().wrote
            assert index.status()["indexed_at"] and index.search("heat oven").hits


def test_an_index_of_a_newer_dowse_is_left_alone(world):
    with closing(sqlite3.connect(world.index / "catalog.sqlite")) as database, database:
        database.execute("UPDATE meta SET value=? WHERE key='format'", (str(FORMAT_VERSION + 1),))
    before = contents(world.index)
    for command in (("search", "heat oven"), ("index",), ("status",)):
        refused = world.run(*command)
        assert refused.returncode == 2 and refused.stderr.count("\n") == 1
        assert "upgrade dowse" in refused.stderr and "--index-dir" in refused.stderr
    assert contents(world.index) == before
    assert world.run("index", "--rebuild").returncode == 0
    world.recovers()


def test_an_index_of_an_older_dowse_is_built_again(world):
    with closing(sqlite3.connect(world.index / "catalog.sqlite")) as database, database:
        database.execute("UPDATE meta SET value='1' WHERE key='format'")
    world.answers()
    world.recovers()
