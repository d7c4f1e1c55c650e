"""The resident process finishes what searches leave: call graph, vectors, what is learnt from commits."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dowse import Index
from dowse.interfaces.cli.main import main
from dowse.vectors.embedding_progress import EmbeddingFolder, EmbeddingProgress
from dowse.write_lock import lock_holder
from indexing.told_by_history import THINGS, make

from helpers import processes_of, run_dowse, write_tree

# Only for what must happen: a loaded machine may take its time.
LONG = 600.0
# More than a search embeds by itself before it answers from an index that is there.
SYMBOLS = 1_500

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="processes are looked up in /proc")


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until something holds that nothing tells us of."""
    deadline = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.005)


def processes(folder: Path) -> list[int]:
    """Return the resident processes that were started for an index."""
    return processes_of("daemon.resident_process", folder)


def workers(folder: Path) -> list[int]:
    """Return the workers of the resident processes."""
    found = []
    for pid in processes(folder):
        tasks = Path(f"/proc/{pid}/task").glob("*/children")  # each thread has those that it started
        found += [int(child) for task in tasks for child in task.read_text().split()]
    return found


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """A tree, and the folder of its index, which has words and no vectors; no vector is cached."""
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("DOWSE_RESIDENT_MINUTES", "10")
    monkeypatch.setenv("DOWSE_ENCODER", "small")
    monkeypatch.setenv("DOWSE_THREADS", "1")
    text = "".join(f"def task_{i}(x):\n    return x + {i}\n\n\n" for i in range(SYMBOLS))
    root, folder = write_tree(tmp_path / "tree", {"m.py": text}), tmp_path / "index"
    with Index.open(root, index_dir=str(folder)) as index:
        index.update(embed=False)
    yield root, folder
    for pid in processes(folder):
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not processes(folder))


def opened(place: tuple[Path, Path]) -> Index:
    root, folder = place
    return Index.open(root, index_dir=str(folder))


def running(folder: Path) -> int:
    """Wait until the worker is at work on an index, and return its id."""
    embedding = EmbeddingFolder(folder / "derived")
    wait_for(lambda: (progress := embedding.progress()) and progress.pid)
    pid = lock_holder(embedding.path)
    assert pid in workers(folder)
    return pid


def search(place: tuple[Path, Path], *flags: str) -> subprocess.CompletedProcess[str]:
    root, folder = place
    return run_dowse("search", "add numbers to a task", root, "--index-dir", folder, *flags)


def test_a_search_is_followed_by_all_the_vectors(place):
    done = search(place)
    assert done.returncode == 0 and "Traceback" not in done.stderr
    # A process that is fast knows how long it takes before the search ends.
    left = "the rest follows in the background|less than a minute left|about \\d+ min left"
    assert re.search(rf"\b0 % of the symbols are embedded, ({left})\n", done.stderr)
    with opened(place) as index:
        wait_for(lambda: not index.vectors.missing())
        wait_for(lambda: index.vectors.progress() is None)
        wait_for(lambda: not workers(place[1]))  # the resident process itself stays
        assert len(processes(place[1])) == 1
        assert index.search("add numbers to a task", mode="embedding").hits
    assert "embedded, " not in search(place).stderr


def test_a_search_by_words_is_followed_by_the_call_graph(place, monkeypatch):
    monkeypatch.setenv("DOWSE_ENCODER", "none")
    monkeypatch.setenv("DOWSE_PROCESSES", "2")
    root, _ = place
    # Together large enough that the graph is not built before a search by words.
    files = {f"copy{n}.py": (root / "m.py").read_text() for n in range(6)}
    write_tree(root, {**files, "calls.py": "from m import task_7\ndef caller():\n    return task_7(1)\n"})
    with opened(place) as index:
        index.backend.clear(wait=None)
        assert search(place, "--mode", "keyword").returncode == 0
        wait_for(lambda: index.graph.is_linked)
        assert [step.symbol.name for step in index.graph.callers("m.py:29").steps] == ["caller"]


def test_commits_are_learnt(place):
    root, folder = place
    made = make(root.parent / "history", "Fix the {topic} workshop for {thing}", THINGS).root
    assert run_dowse("search", "fix it", made, "--index-dir", folder.parent / "learnt").returncode == 0
    facts = folder.parent / "learnt" / "derived"
    wait_for(lambda: list(facts.glob("adapter-*")))
    assert "learnt" in run_dowse("status", made, "--index-dir", folder.parent / "learnt").stdout
    for pid in processes(root.parent):
        os.kill(pid, signal.SIGKILL)


def test_status_says_how_far_it_is(place):
    search(place)
    pid = running(place[1])
    with opened(place) as index:
        wait_for(lambda: (index.vectors.progress() or EmbeddingProgress(0, 0, 0)).done)
        os.kill(pid, signal.SIGSTOP)
        root, folder = place
        text = run_dowse("status", root, "--index-dir", folder).stdout
        facts = json.loads(run_dowse("status", root, "--index-dir", folder, "--json").stdout)["embedding"]
        note = next(note for note in index.search("add numbers").notes if note.code == "partly-embedded")
        os.kill(pid, signal.SIGCONT)
    # A busy machine takes longer.
    left = re.search(rf"(less than a minute|about \d+ min) left \(process {pid}\)", text)
    assert left
    assert facts["pid"] == pid and 0 < facts["done"] < facts["total"] and facts["rate"] > 0
    assert note.text.endswith(f"% of the symbols are embedded, {left[1]} left") and not note.remedy


@pytest.mark.large
def test_two_repositories_are_finished_by_one_process(place, tmp_path):
    root, _ = place
    other = write_tree(tmp_path / "other", {"m.py": (root / "m.py").read_text().replace("task", "duty")})
    search(place)
    run_dowse("search", "add numbers", other, "--index-dir", tmp_path / "index2")
    with opened(place) as index, Index.open(other, index_dir=str(tmp_path / "index2")) as second:
        wait_for(lambda: not index.vectors.missing() and not second.vectors.missing())
    assert len(processes(tmp_path)) == 1


@pytest.mark.large
@pytest.mark.parametrize("is_running", [False, True])
def test_clear_ends_it_and_leaves_nothing(place, is_running):
    root, folder = place
    search(place)
    if is_running:  # else it is about to start
        running(folder)
    done = run_dowse("clear", root, "--index-dir", folder)
    assert done.returncode == 0, done.stderr
    wait_for(lambda: processes(folder) and not workers(folder))
    assert not folder.exists()


def test_index_takes_over(place):
    root, folder = place
    search(place)
    running(folder)
    done = run_dowse("index", root, "--index-dir", folder)
    assert done.returncode == 0 and "waiting" not in done.stderr
    with opened(place) as index:
        assert not index.vectors.missing()


@pytest.mark.large
def test_stop_ends_the_worker_too_and_the_next_search_goes_on(place):
    search(place)
    pid = running(place[1])
    os.kill(pid, signal.SIGSTOP)  # or it would be done before
    assert run_dowse("stop").returncode == 0
    wait_for(lambda: not processes(place[1]) and not Path(f"/proc/{pid}").exists())
    with opened(place) as index:
        assert index.vectors.missing() and index.vectors.progress() is None
        search(place)
        wait_for(lambda: not index.vectors.missing())


@pytest.mark.large
@pytest.mark.parametrize("is_worker", [False, True])
def test_killed_at_random_it_goes_on(place, is_worker):
    chance = random.Random(0)
    with opened(place) as index:
        for _ in range(3):
            before = index.vectors.missing()
            search(place)
            pid = running(place[1])
            wanted = before - 128 * chance.randrange(3)
            wait_for(lambda at=wanted: index.vectors.missing() <= at)
            os.kill(pid if is_worker else processes(place[1])[0], signal.SIGKILL)
            wait_for(lambda gone=pid: gone not in workers(place[1]) and index.vectors.progress() is None)
        assert 0 < index.vectors.missing() <= before
        assert index.search("task_7", mode="keyword").hits
        search(place)
        wait_for(lambda: not index.vectors.missing())


def test_it_can_be_switched_off(place, monkeypatch):
    monkeypatch.setenv("DOWSE_RESIDENT_MINUTES", "0")
    assert "`dowse index --encoder small` finishes it" in search(place).stderr
    assert not (place[1] / "derived" / "embedding").exists() and not processes(place[1])


@pytest.mark.large
def test_related_is_followed_by_all_the_vectors(place, monkeypatch):
    root, folder = place
    monkeypatch.setattr("dowse.index.vectors.QUICK_SECONDS", 0.0)
    assert main(["related", "task_3", str(root), "--index-dir", str(folder)]) == 0
    with opened(place) as index:
        wait_for(lambda: not index.vectors.missing())


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"pid": "x"}', b'{"done": 1e999}'])
def test_files_that_cannot_be_read_are_no_progress(tmp_path, damage):
    folder = EmbeddingFolder(tmp_path)
    folder.report(EmbeddingProgress(0, 10, 0.0))
    assert folder.progress() == EmbeddingProgress(0, 10, 0.0)
    (folder.path / "progress.json").write_bytes(damage)
    assert folder.progress() is None


def test_the_time_left_in_words():
    def words(total: int, rate: float) -> str:
        return EmbeddingProgress(0, total, rate).time_left

    assert words(100, 0.0) == "the rest follows in the background"
    assert words(59, 1.0) == "less than a minute left"
    assert words(121, 1.0) == "about 2 min left"
    assert words(7_200, 1.0) == "about 2 h left"
