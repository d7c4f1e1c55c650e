"""Embedding in the background, in real processes: it finishes, runs once, and ends with its index."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dowse import Index
from dowse.interfaces.cli.common import Environment, embed_in_background, environment
from dowse.interfaces.cli.main import main
from dowse.services.background_embedding import start_embedding
from dowse.vectors.embedding_progress import EmbeddingFolder, EmbeddingProgress, read_progress
from dowse.write_lock import lock_holder

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
    """Return the background processes of an index that run, oldest first."""
    return processes_of("background_embedding", folder)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """A tree, and the folder of its index, which has words and no vectors; no vector is cached."""
    monkeypatch.setenv("DOWSE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("DOWSE_BACKGROUND_EMBEDDING", "yes")
    monkeypatch.setenv("DOWSE_ENCODER", "small")
    monkeypatch.setenv("DOWSE_THREADS", "1")
    text = "".join(f"def task_{i}(x):\n    return x + {i}\n\n\n" for i in range(SYMBOLS))
    root, folder = write_tree(tmp_path / "tree", {"m.py": text}), tmp_path / "index"
    with Index.open(root, index_dir=str(folder)) as index:
        index.update()
    yield root, folder
    for pid in processes(folder):
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not processes(folder))


def opened(place: tuple[Path, Path]) -> Index:
    root, folder = place
    return Index.open(root, index_dir=str(folder))


def running(folder: Path) -> int:
    """Wait until the process of an index is at work, and return its id."""
    wait_for((folder / "derived" / "embedding" / "progress.json").exists)
    return lock_holder(folder / "derived" / "embedding") or 0


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
        wait_for(lambda: not index.unembedded())
        wait_for(lambda: not processes(place[1]))
        assert index.embedding_progress() is None
        assert index.search("add numbers to a task", mode="embedding").hits
    assert "embedded, " not in search(place).stderr


def test_a_search_by_words_is_followed_by_the_call_graph(place, monkeypatch):
    monkeypatch.setenv("DOWSE_ENCODER", "none")
    monkeypatch.setenv("DOWSE_PROCESSES", "2")
    root, folder = place
    # Together large enough that the graph is not built before a search by words.
    files = {f"copy{n}.py": (root / "m.py").read_text() for n in range(6)}
    write_tree(root, {**files, "calls.py": "from m import task_7\ndef caller():\n    return task_7(1)\n"})
    with opened(place) as index:
        index.backend.clear(wait=None)
        assert search(place, "--mode", "keyword").returncode == 0
        wait_for(lambda: index.is_linked)
        assert [step.symbol.name for step in index.callers("m.py:29").steps] == ["caller"]
        wait_for(lambda: not processes(folder))


def test_status_says_how_far_it_is(place):
    with opened(place) as index:
        assert start_embedding(index)
        pid = running(place[1])
        wait_for(lambda: (index.embedding_progress() or EmbeddingProgress(0, 0, 0)).done)
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


def test_there_are_never_two(place):
    with opened(place) as index:
        assert start_embedding(index)
        first = running(place[1])
        os.kill(first, signal.SIGSTOP)  # so that it holds the lock while others try
        assert start_embedding(index) and processes(place[1]) == [first]
        arguments = Path(f"/proc/{first}/cmdline").read_bytes().split(b"\0")[:-1]
        others = [subprocess.Popen(arguments) for _ in range(4)]
        assert [other.wait(LONG) for other in others] == [0] * 4
        assert processes(place[1]) == [first] and read_progress(place[1] / "derived")
        os.kill(first, signal.SIGCONT)
        wait_for(lambda: not index.unembedded())


def test_searches_at_once_start_one(place):
    root, folder = place
    command = [sys.executable, "-m", "dowse.interfaces.cli.main", "search", "task_7", str(root)]
    searches = [
        subprocess.Popen([*command, "--index-dir", str(folder)], stdout=subprocess.DEVNULL) for _ in range(4)
    ]
    pid = running(folder)
    os.kill(pid, signal.SIGSTOP)
    for each in searches:
        assert each.wait(LONG) == 0
    wait_for(lambda: processes(folder) == [pid])
    os.kill(pid, signal.SIGCONT)
    with opened(place) as index:
        wait_for(lambda: not index.unembedded())


def test_ctrl_c_of_the_search_does_not_end_it(place):
    root, folder = place
    command = [sys.executable, "-m", "dowse.interfaces.cli.main", "search", "--batch", "-", str(root)]
    with subprocess.Popen(
        [*command, "--index-dir", str(folder)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    ) as shell:
        pid = running(folder)  # the search waits for its queries
        os.kill(pid, signal.SIGSTOP)
        os.killpg(shell.pid, signal.SIGINT)
        assert shell.wait(LONG) == 130
        assert os.getsid(pid) == pid and processes(folder) == [pid]
        os.kill(pid, signal.SIGCONT)
    with opened(place) as index:
        wait_for(lambda: not index.unembedded())


@pytest.mark.parametrize("stopped", [False, True])
def test_clear_ends_it_and_leaves_nothing(place, stopped):
    root, folder = place
    with opened(place) as index:
        start_embedding(index)
        if stopped:  # else it is about to start
            running(folder)
    done = run_dowse("clear", root, "--index-dir", folder)
    assert done.returncode == 0, done.stderr
    wait_for(lambda: not processes(folder))
    assert not folder.exists()


def test_it_ends_when_the_index_is_deleted(place):
    folder = place[1]
    with opened(place) as index:
        start_embedding(index)
    running(folder)
    while folder.exists():  # it may be writing a file
        shutil.rmtree(folder, ignore_errors=True)
    wait_for(lambda: not processes(folder))
    assert not folder.exists()


def test_index_takes_over(place):
    root, folder = place
    with opened(place) as index:
        start_embedding(index)
        running(folder)
        done = run_dowse("index", root, "--index-dir", folder)
        assert done.returncode == 0 and "waiting" not in done.stderr
        assert not index.unembedded() and not processes(folder)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_signals_end_it_without_harm(place, number):
    with opened(place) as index:
        start_embedding(index)
        os.kill(running(place[1]), number)
        wait_for(lambda: index.embedding_progress() is None)
        assert not index.backend.check()
        assert index.search("task_7", mode="keyword").hits
        assert start_embedding(index)
        wait_for(lambda: not index.unembedded())


def test_killed_at_random_it_goes_on(place):
    chance = random.Random(0)
    with opened(place) as index:
        for _ in range(4):
            before = index.unembedded()
            start_embedding(index)
            pid = running(place[1])
            wanted = before - 128 * chance.randrange(3)
            wait_for(lambda at=wanted: index.unembedded() <= at)
            os.kill(pid, signal.SIGKILL)
            wait_for(lambda: index.embedding_progress() is None)
        assert 0 < index.unembedded() <= before and not index.backend.check()
        start_embedding(index)
        wait_for(lambda: not index.unembedded())


@pytest.mark.parametrize("mode", ["auto", "hybrid"])  # hybrid embeds before it answers, too
def test_a_full_disk_ends_it_and_the_search_answers(place, mode):
    """A limit on the size of files stands for the full disk: writing fails in the same way."""
    root, folder = place
    program = (
        "import resource, sys;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000));"
        "from dowse.interfaces.cli.main import main; sys.exit(main())"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            program,
            "search",
            "task_7",
            str(root),
            "--index-dir",
            str(folder),
            "--mode",
            mode,
        ],
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert done.returncode == 0 and "task_7" in done.stdout and "Traceback" not in done.stderr
    wait_for(lambda: not processes(folder))
    with opened(place) as index:
        assert not index.backend.check()
        assert start_embedding(index) or True
        wait_for(lambda: not index.unembedded() or (start_embedding(index) and False))


def test_it_can_be_switched_off(place, monkeypatch):
    monkeypatch.setenv("DOWSE_BACKGROUND_EMBEDDING", "no")
    assert "`dowse index --encoder small` finishes it" in search(place).stderr
    assert not (place[1] / "derived" / "embedding").exists()


def test_related_is_followed_by_all_the_vectors(place, monkeypatch):
    root, folder = place
    monkeypatch.setattr("dowse.interfaces.cli.common.QUICK_SECONDS", 0.0)
    assert main(["related", "task_3", str(root), "--index-dir", str(folder)]) == 0
    with opened(place) as index:
        wait_for(lambda: not index.unembedded())


def test_a_daemon_starts_none(place):
    """A daemon's watcher embeds, or its refresher."""
    with opened(place) as index:
        token = environment.set(Environment({}, Index.open, lambda *_: False, embeds_later=False))
        try:
            embed_in_background(index)
        finally:
            environment.reset(token)
        assert index.embedding_progress() is None
        embed_in_background(index)
        assert index.embedding_progress() is not None


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"pid": "x"}', b'{"done": 1e999}'])
def test_files_that_cannot_be_read_are_no_progress(tmp_path, damage):
    folder = EmbeddingFolder(tmp_path)
    folder.request(EmbeddingProgress(0, 10, 0.0))
    assert folder.progress() == EmbeddingProgress(0, 10, 0.0)
    (folder.path / "requested.json").write_bytes(damage)
    assert folder.progress() is None


def test_the_time_left_in_words():
    def words(total: int, rate: float) -> str:
        return EmbeddingProgress(0, total, rate).time_left

    assert words(100, 0.0) == "the rest follows in the background"
    assert words(59, 1.0) == "less than a minute left"
    assert words(121, 1.0) == "about 2 min left"
    assert words(7_200, 1.0) == "about 2 h left"
