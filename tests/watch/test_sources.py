"""Each source of file changes, on real folders."""

from __future__ import annotations

import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dowse.watch import inotify
from dowse.watch.sources import ChangeSource, FileChanges, WatchLimitReached
from watch.running import DEADLINE

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="inotify is Linux's")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a folder."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".git" / "info").mkdir(exist_ok=True)  # which a user's own template may lack
    (tmp_path / "pkg").mkdir()
    return tmp_path


def gathered(source: ChangeSource, wanted: set[str]) -> FileChanges:
    """Read until all of some paths were told."""
    changes = FileChanges()
    end = time.monotonic() + DEADLINE
    while not wanted <= changes.paths:
        assert time.monotonic() < end, changes
        select.select([source.handle], [], [], 1.0)
        changes.paths |= source.read().paths
    return changes


@linux
def test_it_tells_of_files_folders_and_git(root):
    source = inotify.InotifySource(root)
    source.add("")
    source.add("pkg/")
    try:
        (root / "a.py").write_text("a")
        (root / "pkg" / "b.py").write_text("b")
        (root / "pkg" / "new").mkdir()
        (root / ".git" / "HEAD").write_text("ref: refs/heads/other\n")
        (root / ".git" / "objects" / "x").write_text("")
        (root / ".git" / "info" / "exclude").write_text("*.log\n")
        changes = gathered(source, {"a.py", "pkg/b.py", "pkg/new", ".git/HEAD", ".git/info/exclude"})
        assert not any(path.startswith(".git/objects") for path in changes.paths)
        (root / "a.py").rename(root / "pkg" / "c.py")
        gathered(source, {"a.py", "pkg/c.py"})
        (root / "pkg" / "c.py").unlink()
        gathered(source, {"pkg/c.py"})
    finally:
        source.close()


@linux
def test_the_queue_is_read_at_once(root):
    """What happened before a read is in it: nothing has to be waited for."""
    source = inotify.InotifySource(root)
    source.add("pkg/")
    for number in range(100):
        (root / "pkg" / f"{number}.py").write_text("x")
        assert source.read().paths == {f"pkg/{number}.py"}
    assert not source.read()
    source.close()


@pytest.mark.large
@linux
def test_more_than_the_queue_holds_is_noticed(root):
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if most > 100_000:
        pytest.skip("the queue of this system is too long to fill")
    source = inotify.InotifySource(root)
    source.add("pkg/")
    names = [root / "pkg" / f"{number % 7}" for number in range(most // 2 + 10)]
    for name in names:
        name.touch()
        name.unlink()
    assert source.read().needs_scan
    source.close()


@linux
def test_a_limit_of_the_system_is_named_with_its_remedy(root, monkeypatch):
    source = inotify.InotifySource(root)

    class Full:
        @staticmethod
        def inotify_add_watch(*_: object) -> int:
            inotify.ctypes.set_errno(inotify.errno.ENOSPC)
            return -1

    monkeypatch.setattr(source, "_libc", Full)
    with pytest.raises(WatchLimitReached, match="max_user_watches"):
        source.add("pkg/")
    source.close()
