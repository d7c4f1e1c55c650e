"""What is saved can be searched, by words and by meaning; what nobody wants wakes nobody."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dowse import Index
from dowse.workers.child import IDLE
from watch.running import Heard, Watcher, is_alive, names, settle, until, watching
from watch.whole import rebuilt, whole

from helpers import age, large_from, write_tree

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="processes are looked up in /proc"
)

IMPORT = "from shop.prices import price_of\n\n\n"
FILES = {
    "shop/cart.py": IMPORT + "class Cart:\n    def add(self, item):\n        return price_of(item)\n",
    "shop/prices.py": "def price_of(item):\n    return 1\n",
    "README.md": "# Shop\n\nSells things.\n",
    ".gitignore": "build/\n*.log\n",
    "build/out.py": "def built(): ...\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small repository."""
    root = write_tree(tmp_path / "shop", FILES)
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    age(root)
    return root


@pytest.fixture
def index(root: Path, tmp_path: Path) -> Index:
    """Its index, not made yet."""
    return Index.open(root, index_dir=str(tmp_path / "index"))


def git(root: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
        cwd=root,
        check=True,
        capture_output=True,
    )


def test_it_builds_an_index_that_is_missing_and_then_follows(index, root):
    with watching(index) as (watcher, heard):
        assert heard.wait("indexed").added == 4
        (root / "shop" / "new.py").write_text(IMPORT + "def fresh_one():\n    return price_of(2)\n")
        settle(watcher)
        assert names(index, "fresh_one") == ["fresh_one"]
        assert [step.symbol.name for step in index.graph.callers("price_of").steps] == ["add", "fresh_one"]
        (root / "shop" / "new.py").rename(root / "shop" / "renamed.py")
        settle(watcher)
        assert [row.path for row in index.symbols("fresh_one")] == ["shop/renamed.py"]
        (root / "shop" / "renamed.py").unlink()
        settle(watcher)
        assert names(index, "fresh_one") == []
        # The event comes after the commit.
        until(lambda: heard.of("indexed")[-1].deleted == 1 and not heard.of("indexed")[-1].added)


@pytest.mark.parametrize("poll", large_from(1, [False, True]))
def test_folders_come_move_and_go(index, root, tmp_path, poll):
    with watching(index, poll=poll) as (watcher, _):
        write_tree(root, {"a/b/c/deep.py": "def deep(): ...\n"})
        settle(watcher)
        assert names(index, "deep") == ["deep"]
        (root / "a" / "b").rename(root / "moved")
        settle(watcher)
        assert [row.path for row in index.symbols("deep")] == ["moved/c/deep.py"]
        (root / "moved" / "c" / "deep.py").write_text("def deeper(): ...\n")
        settle(watcher)
        assert names(index, "deep*") == ["deeper"]
        shutil.rmtree(root / "moved")
        (root / "a").rmdir()
        settle(watcher)
        assert names(index, "deep*") == []
    assert whole(index) == rebuilt(index, str(tmp_path / "fresh"))


def test_ignored_and_passing_files_wake_nobody(index, root):
    with watching(index) as (watcher, heard):
        settle(watcher)
        before = len(heard.events)
        for number in range(20):
            (root / "debug.log").write_text(f"line {number}")
            (root / "build" / f"{number}.py").write_text("def built(): ...\n")
            (root / "shop" / "4913").write_text("")  # Vim tries whether it may write
            (root / "shop" / "4913").unlink()
            (root / "shop" / ".cart.py.swp").write_bytes(b"b0VIM\0")
            (root / "shop" / "cart.py~").write_text("def backup(): ...\n")
            (root / "shop" / "#cart.py#").write_text("def autosaved(): ...\n")
        (root / "build" / "sub").mkdir()
        time.sleep(1.0)
        assert heard.kinds(before) == []
        (root / "shop" / ".cart.py.tmp").write_text("def saved_by_renaming(): ...\n")
        (root / "shop" / ".cart.py.tmp").rename(root / "shop" / "cart.py")
        heard.wait("indexed", before)
        assert heard.kinds(before) == ["indexed"]
        assert names(index, "saved_by_renaming") == ["saved_by_renaming"]


def test_new_rules_count_at_once(index, root, tmp_path):
    with watching(index) as (watcher, _):
        (root / ".gitignore").write_text("shop/cart.py\n")
        settle(watcher)
        assert names(index, "Cart") == []
        assert names(index, "built") == ["built"]
        (root / ".dowseignore").write_text("!shop/cart.py\n")
        settle(watcher)
        assert names(index, "Cart") == []  # a repository can't bring back what git ignores
        (root / ".gitignore").write_text("")
        settle(watcher)
        assert names(index, "Cart") == ["Cart"]
        (root / "shop" / "CACHEDIR.TAG").write_text("")
        settle(watcher)
        assert names(index, "Cart") == []
    assert whole(index) == rebuilt(index, str(tmp_path / "fresh"))


def test_a_switch_of_branches_with_many_files_equals_a_rebuild(index, root, tmp_path):
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "one")
    git(root, "checkout", "-q", "-b", "big")
    many = {
        f"pkg{n % 40}/mod{n}.py": f"def function_{n}(x):\n    return function_{n + 1}(x)\n"
        for n in range(200)
    }
    write_tree(root, many)
    (root / "shop" / "prices.py").write_text("def price_of(item):\n    return function_3(item)\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "many")
    git(root, "checkout", "-q", "main")
    with watching(index) as (watcher, _):
        git(root, "checkout", "-q", "big")
        settle(watcher)
        assert index.contents.file_count() == 204
        assert whole(index) == rebuilt(index, str(tmp_path / "fresh"))
        git(root, "checkout", "-q", "main")
        settle(watcher)
        assert index.contents.file_count() == 4
        assert whole(index) == rebuilt(index, str(tmp_path / "fresh"))


def test_a_killed_process_is_replaced_and_catches_up(index, root):
    with watching(index) as (watcher, heard):
        before, killed = len(heard.events), watcher.pid
        os.killpg(killed, signal.SIGKILL)
        (root / "shop" / "late.py").write_text("def came_meanwhile(): ...\n")
        heard.wait("watching", after=before)
        assert watcher.pid not in (None, killed)
        assert names(index, "came_meanwhile") == ["came_meanwhile"]


@pytest.mark.large
def test_a_second_watcher_waits_for_the_first(index, root, tmp_path):
    second_heard = Heard()
    with Index.open(root, index_dir=str(tmp_path / "index")) as same:
        with watching(index) as (first, first_heard):
            second = Watcher(same, second_heard)
            second_heard.wait("waiting")
            (root / "shop" / "new.py").write_text("def once(): ...\n")
            settle(first)
            assert not second.is_watching
        second_heard.wait("watching")
        (root / "shop" / "new.py").write_text("def twice(): ...\n")
        settle(second)
        second.stop()
    assert names(index, "once") == []
    assert names(index, "twice") == ["twice"]
    assert len([event for event in first_heard.events if event.kind == "indexed"]) == 2
    assert [event.kind for event in second_heard.events if event.changed] == ["indexed"]


def test_the_process_ends_with_whoever_started_it(index, root, tmp_path):
    program = f"""if True:
        from dowse import Index
        from dowse.watch import Maintainer
        maintainer = Maintainer(lambda event: print(event.kind, maintainer.pid, flush=True))
        maintainer.request(Index.open({str(root)!r}, index_dir={str(tmp_path / "index")!r}), "watch")
        import threading; threading.Event().wait()
    """
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        pid = next(int(line.split()[1]) for line in process.stdout if line.startswith("watching"))
        assert is_alive(pid)
        process.kill()
    until(lambda: not is_alive(pid))


@pytest.mark.large
@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="the CPU is not shared by sessions")
def test_all_other_processes_come_first(index):
    with watching(index, niceness=IDLE) as (watcher, _):
        assert Path(f"/proc/{watcher.pid}/autogroup").read_text().endswith("nice 19\n")
        assert os.sched_getscheduler(watcher.pid) == os.SCHED_IDLE


@pytest.mark.large
def test_a_root_that_goes_away_and_comes_back(index, root, tmp_path):
    with watching(index) as (watcher, heard):
        before = len(heard.events)
        root.rename(tmp_path / "elsewhere")
        heard.wait("failed", after=before)
        (tmp_path / "elsewhere").rename(root)
        (root / "shop" / "back.py").write_text("def back_again(): ...\n")
        heard.wait("watching", after=before)
        settle(watcher)
        assert names(index, "back_again") == ["back_again"]


@pytest.mark.large
def test_an_index_that_is_cleared_is_made_again(index, root):
    with watching(index) as (watcher, _):
        settle(watcher)
        index.backend.clear(wait=None)
        (root / "shop" / "new.py").write_text("def after_clearing(): ...\n")
        settle(watcher)
        assert names(index, "*after*") == ["after_clearing"]
        assert names(index, "Cart") == ["Cart"]


def test_by_meaning_only_what_changed_is_encoded_and_branches_share_it(root, tmp_path):
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "one")
    git(root, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other" / "shop"))
    index = Index.open(root, index_dir=str(tmp_path / "index"), encoder="small")
    with watching(index) as (watcher, heard):
        settle(watcher)
        count = index.vectors.embed().missing
        assert count == 0
        before = len(heard.events)
        with (root / "shop" / "prices.py").open("a") as file:
            file.write("\n\ndef discount(item):\n    return 0.5\n")
        settle(watcher)
        assert heard.wait("embedded", after=before).done <= 2
        assert index.search("price reduction", mode="embedding", k=1).hits[0].symbol.name == "discount"
        git(root, "stash", "-q")
        settle(watcher)
        git(root, "stash", "pop", "-q")
        settle(watcher)
    assert whole(index) == rebuilt(index, str(tmp_path / "fresh"))
    with Index.open(tmp_path / "other" / "shop", index_dir=str(tmp_path / "i2"), encoder="small") as other:
        report = other.update().embedding
        assert (report.encoded, report.missing) == (0, 0)
        assert report.reused > 0
