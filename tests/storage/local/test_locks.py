"""One writer at a time: the others wait, or say who is at work."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dowse import Index
from dowse.errors import IndexLocked
from dowse.storage.local.backend import LocalBackend

from helpers import file_record, symbol, write_tree

HOLDER = """
import sys
from pathlib import Path
from dowse.storage.local.backend import LocalBackend
with LocalBackend(Path(sys.argv[1])).writer() as writer:
    print("holding", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def tree(tmp_path):
    return write_tree(tmp_path / "tree", {"a.py": "def first(): ...\n"})


@pytest.fixture
def holder(tmp_path):
    """Another process that writes to the index."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "index")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "holding\n"
        yield process
        if process.poll() is None:
            process.communicate("\n", timeout=300)


def open_index(tree: Path, tmp_path: Path) -> Index:
    return Index.open(tree, index_dir=str(tmp_path / "index"))


def test_without_waiting_the_second_writer_says_who_is_first(tree, holder, tmp_path):
    with open_index(tree, tmp_path) as index:
        for rebuild in (False, True):
            with pytest.raises(IndexLocked, match=rf"process {holder.pid}\b.*wait for it"):
                index.update(wait=0, rebuild=rebuild)
        with pytest.raises(IndexLocked):
            index.backend.clear()
        assert index.backend.writer_process() == holder.pid


@pytest.mark.parametrize("rebuild", [False, True])
def test_the_second_writer_waits_and_then_goes_on(tree, holder, tmp_path, rebuild):
    told: list[str] = []

    def on_wait(message: str) -> None:
        told.append(message)
        holder.stdin.write("\n")  # the holder finishes only now
        holder.stdin.flush()

    with open_index(tree, tmp_path) as index:
        assert index.update(on_wait=on_wait, rebuild=rebuild).added == 1
        assert index.backend.writer_process() is None
    assert told == [f"waiting for another dowse (process {holder.pid}) to finish writing"]


def test_a_killed_writer_frees_the_lock(tree, holder, tmp_path):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with open_index(tree, tmp_path) as index:
        assert index.backend.writer_process() is None
        assert index.update(wait=0).added == 1


def test_readers_do_not_need_the_lock(tree, tmp_path):
    with open_index(tree, tmp_path) as index:
        index.update()
        with index.backend.writer() as writer:
            writer.delete("a.py")
            assert index.search("first").hits
            assert index.status()["writer"] > 0


def test_the_first_search_waits_for_the_first_index(tree, holder, tmp_path):
    """While it is being made there is none; the command then waits for it, and goes on."""
    folder = tmp_path / "index"
    with open_index(tree, tmp_path) as index:
        assert (folder / "catalog.sqlite").exists() and not index.exists
        with subprocess.Popen(
            [
                sys.executable,
                "-m",
                "dowse.interfaces.cli.main",
                "search",
                "first",
                str(tree),
                "--index-dir",
                str(folder),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as search:
            assert "first use" in search.stderr.readline()
            assert f"process {holder.pid}" in search.stderr.readline()
            holder.communicate("\n", timeout=300)
            out, _ = search.communicate(timeout=300)
        assert search.returncode == 0 and "a.py" in out
        assert index.exists


def test_waiting_writers_are_never_two_at_once_after_the_index_was_removed(tmp_path):
    """Who waited for a lock file that is then removed must not believe to hold the new one."""
    folder = tmp_path / "index"
    at_work, most, rounds = [0], [0], 4
    guard = threading.Lock()

    def work() -> None:
        backend = LocalBackend(folder)
        for round_ in range(rounds):
            with backend.writer() as writer:
                with guard:
                    at_work[0] += 1
                    most[0] = max(most[0], at_work[0])
                writer.put(file_record(f"{threading.get_ident()}-{round_}", [symbol("s", "word")]))
                with guard:
                    at_work[0] -= 1
            backend.clear(wait=None)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
