"""A writer killed at any instant leaves the last generation, or the new one, whole and searchable."""

from __future__ import annotations

import contextlib
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dowse import Index
from dowse.storage.local.backend import LocalBackend
from dowse.storage.local.catalog import Catalog

from helpers import KILL_HOOK, age, file_record, large_from, write_tree

FILES = 24
# Prints a line per progress event; kills itself before or after the nth call of one function, if asked.
WRITER = f"""{KILL_HOOK}
from dowse import Index
root, folder, place, when, nth, rebuild = sys.argv[1:]
if place:
    hook(place, when, nth)
print("ready", flush=True)
Index.open(root, index_dir=folder).update(
    rebuild=bool(rebuild), on_progress=lambda p: print(p.done, flush=True)
)
print("done", flush=True)
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A tree whose files have all changed, some come and some gone, and the index from before."""
    base = tmp_path_factory.mktemp("kill")
    root = write_tree(base / "tree", {f"m{i}.py": source("alpha", i) for i in range(FILES)})
    age(root, by=7200)
    with Index.open(root, index_dir=str(base / "old")) as index:
        index.update()
    write_tree(root, {f"m{i}.py": source("beta", i) for i in range(2, FILES + 4)})
    (root / "m0.py").unlink()
    age(root)
    return root, base / "old"


def source(word: str, i: int) -> str:
    return f"def {word}_{i}():\n    return 'the {word} text of {i}'\n"


def expected(word: str) -> set[str]:
    if word == "alpha":
        return {f"alpha_{i}" for i in range(FILES)}
    return {"alpha_1"} | {f"beta_{i}" for i in range(2, FILES + 4)}


OLD, NEW = expected("alpha"), expected("beta")


def run_writer(
    root: Path, folder: Path, place: str = "", when: str = "before", nth: int = 1, rebuild: str = ""
) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(root), str(folder), place, when, str(nth), rebuild]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def state(index: Index) -> set[str]:
    """Return the names that are there, after checking that every way to look agrees."""
    assert index.backend.check() == []
    names = {row.name for row in index.symbols("*", 1000)}
    for word in ("alpha", "beta"):
        wanted = {name for name in names if name.startswith(word)}
        by_word = index.search(word, k=0, fuzziness="0").hits
        assert {hit.symbol.name for hit in by_word} == wanted
        by_text = index.search(f'"the {word} text"', k=0).hits
        assert {hit.symbol.name for hit in by_text} == wanted
        assert all(word in hit.symbol.code for hit in by_text)
    return names


def assert_whole(root: Path, folder: Path, allowed: list[set[str]]) -> None:
    """Check the state after a kill, and that the next update heals what the writer left behind."""
    with Index.open(root, index_dir=str(folder)) as index:
        assert state(index) in allowed
        index.update(wait=0)
        assert state(index) == NEW
        assert len(list((folder / "text").iterdir())) == 1
        assert not index.update().wrote


@pytest.mark.parametrize("seed", large_from(1, range(18)))
def test_killed_at_a_random_instant(world, tmp_path, seed):
    root, old = world
    folder = Path(shutil.copytree(old, tmp_path / "index"))
    events = random.Random(seed).randint(0, FILES + 4)
    with run_writer(root, folder) as writer:
        for _ in range(events):
            writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
    assert_whole(root, folder, [OLD, NEW])


@pytest.mark.parametrize(
    ("place", "when", "nth", "names"),
    [
        ("dowse.storage.local.layout:link_file", "before", 3, OLD),
        ("dowse.storage.local.layout:clone_generation", "after", 1, OLD),
        ("dowse.storage.local.catalog:Catalog.delete_file", "after", 5, OLD),
        ("dowse.storage.local.catalog:Catalog.put_file", "after", 10, OLD),
        ("dowse.storage.local.fulltext:FulltextWriter.put", "after", 10, OLD),
        ("dowse.storage.local.fulltext:FulltextWriter.commit", "before", 1, OLD),
        # Between tantivy's commit and SQLite's:
        ("dowse.storage.local.fulltext:FulltextWriter.commit", "after", 1, OLD),
        ("dowse.storage.local.catalog:Catalog.commit", "before", 1, OLD),
        # After both, with the old generation's folder still there:
        ("dowse.storage.local.catalog:Catalog.commit", "after", 1, NEW),
        ("dowse.storage.local.layout:remove_other_generations", "before", 2, NEW),
        ("dowse.storage.local.layout:remove_other_generations", "after", 2, NEW),
    ],
)
def test_killed_at_an_exact_place(world, tmp_path, place, when, nth, names):
    root, old = world
    folder = Path(shutil.copytree(old, tmp_path / "index"))
    with run_writer(root, folder, place, when, nth) as writer:
        writer.communicate(timeout=300)
    assert writer.returncode == -signal.SIGKILL, "the place was not reached"
    assert_whole(root, folder, [names])


def test_killed_twice_in_a_row(world, tmp_path):
    root, old = world
    folder = Path(shutil.copytree(old, tmp_path / "index"))
    for place in (
        "dowse.storage.local.fulltext:FulltextWriter.commit",
        "dowse.storage.local.fulltext:FulltextWriter.put",
    ):
        with run_writer(root, folder, place, "after") as writer:
            writer.communicate(timeout=300)
        assert writer.returncode == -signal.SIGKILL
    assert_whole(root, folder, [OLD])


@pytest.mark.parametrize(
    ("place", "when", "names"),
    [
        ("dowse.storage.local.catalog:Catalog.empty", "after", OLD),
        ("dowse.indexing.update:difference", "before", OLD),
        ("dowse.storage.local.fulltext:FulltextWriter.put", "after", OLD),
        ("dowse.storage.local.fulltext:FulltextWriter.commit", "after", OLD),
        ("dowse.storage.local.catalog:Catalog.commit", "before", OLD),
        ("dowse.storage.local.catalog:Catalog.commit", "after", NEW),
    ],
)
def test_killed_while_rebuilding(world, tmp_path, place, when, names):
    root, old = world
    folder = Path(shutil.copytree(old, tmp_path / "index"))
    with run_writer(root, folder, place, when, 1, "rebuild") as writer:
        writer.communicate(timeout=300)
    assert writer.returncode == -signal.SIGKILL, "the place was not reached"
    assert_whole(root, folder, [names])


@pytest.mark.parametrize("place", ["dowse.storage.local.layout:remove_index", "shutil:rmtree"])
def test_killed_while_throwing_a_damaged_index_away(world, tmp_path, place):
    """What `--rebuild` removes may be gone, but what remains is no obstacle."""
    root, old = world
    folder = Path(shutil.copytree(old, tmp_path / "index"))
    shutil.rmtree(next((folder / "text").iterdir()))
    with run_writer(root, folder, place, "before", 1, "rebuild") as writer:
        writer.communicate(timeout=300)
    assert writer.returncode == -signal.SIGKILL
    with Index.open(root, index_dir=str(folder)) as index:
        index.update(rebuild=True)
        assert state(index) == NEW


def test_killed_in_the_very_first_run(world, tmp_path):
    root, _ = world
    folder = tmp_path / "index"
    with run_writer(root, folder, "dowse.storage.local.fulltext:FulltextWriter.put", "after", 5) as writer:
        writer.communicate(timeout=300)
    with Index.open(root, index_dir=str(folder)) as index:
        index.update(wait=0)
        assert state(index) == NEW


def test_a_graph_is_shared_only_once_its_files_are_committed(tmp_path):
    backend = LocalBackend(tmp_path)
    with backend.writer() as writer:
        writer.put(file_record("new.py"))
        assert writer.share_graph() == ""
        writer.commit({"linked": "0"})
        with contextlib.closing(Catalog.open_for_reading(Path(writer.share_graph()))) as shared:
            assert [*shared.fingerprints()] == ["new.py"]
    with backend.reader() as reader:
        assert not reader.is_linked
