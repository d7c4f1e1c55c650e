"""An index where the system refuses something: the last generation answers, or one line says why."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from dowse import Index
from dowse.errors import IndexUnavailable
from dowse.storage.local.catalog import FORMAT_VERSION
from dowse.storage.local.reader import LocalReader
from git_servers import git

from helpers import contents, large_from, need, write_tree

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
@pytest.mark.parametrize("kilobytes", large_from(4, [0, 16, 120, 300, 1, 4, 40, 64, 200, 400, 500, 800]))
@pytest.mark.parametrize("command", ["search", "log"])
def test_a_limit_of_file_sizes(tmp_path, kilobytes, command):
    """The lock, SQLite, tantivy or an extracted grammar is the first that can't be written."""
    root = tmp_path / "tree"
    write_tree(
        root,
        {
            f"m{n}.py": "".join(f"def heat_{n}_{k}(x):\n    return {k}\n" for k in range(30))
            for n in range(20)
        },
    )
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Heat the oven")
    done = subprocess.run(
        [*limited("-f", kilobytes), sys.executable, "-m", "dowse.interfaces.cli.main", command, "heat"],
        cwd=root,
        env={
            **os.environ,
            **{"DOWSE_ENCODER": "none", "DOWSE_RESIDENT_MINUTES": "0", "SEMBLE_GRAMMARS_CACHE_DIR": ""},
            **{"XDG_CACHE_HOME": str(tmp_path / "cache"), "DOWSE_CACHE_DIR": ""},
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode == 0:
        assert "heat" in done.stdout.lower() and "plain lines" not in done.stderr
    else:
        assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
        assert re.search(r"ulimit -f|its disk", done.stderr.splitlines()[-1])


@linux_only
def test_a_rebuild_that_can_not_read_the_index_leaves_it(world, monkeypatch):
    def refuse(*_: object) -> None:
        raise IndexUnavailable("too many open files")

    with world.opened() as index:
        monkeypatch.setattr(LocalReader, "integrity_check", refuse)
        with pytest.raises(IndexUnavailable):
            index.update(rebuild=True)
        monkeypatch.undo()
    world.is_whole()


def test_a_read_only_disk(tmp_path, small_disk):
    world = World(tmp_path, small_disk / "index")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert "without the latest changes" in world.answers()
    assert "--index-dir" in world.refuses()
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    world.recovers()


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
