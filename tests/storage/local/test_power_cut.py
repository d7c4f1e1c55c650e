"""A power cut while an index is updated leaves the last generation, or the new one, whole."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from dowse import Index
from power_cuts.cuts import boundaries, cuts
from power_cuts.disk import Recording, Sync, write_image
from power_cuts.recording import record

from helpers import age, need, write_tree

pytestmark = pytest.mark.large
UPDATE = """
import sys
from dowse import Index
Index.open(sys.argv[1], index_dir=sys.argv[2], encoder="none", processes=1).update()
"""
# Places that are looked at: those around the commit, and some before.
LAST, EARLIER = 12, 12


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Recording]:
    """A tree, and an update of its index."""
    need("strace")
    base = tmp_path_factory.mktemp("cut")
    root = write_tree(base / "tree", {f"m{i}.py": source("alpha", i) for i in range(6)})
    age(root, by=7200)
    with Index.open(root, index_dir=str(base / "index"), encoder="none") as index:
        index.update()
    write_tree(root, {f"m{i}.py": source("beta", i) for i in range(2, 8)})
    age(root)
    return root, record(base / "index", [sys.executable, "-c", UPDATE, str(root), str(base / "index")])


def source(word: str, i: int) -> str:
    return f"def {word}_{i}():\n    return 'the {word} text of {i}'\n"


def names(index: Index) -> list[str]:
    """Return the names that are there, after checking that every way to look agrees."""
    assert index.backend.check() == []
    found = sorted(row.name for row in index.symbols("*", 100))
    for word in ("alpha", "beta"):
        hits = {hit.symbol.name for hit in index.search(f'"the {word} text"', k=0).hits}
        assert hits == {name for name in found if name.startswith(word)}
        assert hits == {hit.symbol.name for hit in index.search(word, k=0, fuzziness="0").hits}
    return found


OLD = [f"alpha_{i}" for i in range(6)]
NEW = sorted([*OLD[:2], *(f"beta_{i}" for i in range(2, 8))])


def test_the_last_generation_or_the_new_one_answers(world, tmp_path):
    root, recording = world
    places = boundaries(recording.operations)
    chosen = {*places[-LAST:], *places[:-LAST:EARLIER]}
    found = []
    for number, cut in enumerate(cut for cut in cuts(recording, draws=1) if cut.place in chosen):
        folder = tmp_path / str(number)
        write_image(cut.image, folder)
        with Index.open(root, index_dir=str(folder), encoder="none", refresh="never") as index:
            found.append(names(index))
            assert found[-1] in (OLD, NEW), (cut.place, cut.loss)
        shutil.rmtree(folder)
    assert OLD in found and found[-1] == NEW


def test_the_next_update_mends_what_a_cut_left(world, tmp_path):
    root, recording = world
    syncs = [place for place, each in enumerate(recording.operations) if isinstance(each, Sync)]
    lost = [cut for cut in cuts(recording, draws=1) if cut.loss in ("names", "draw 0")]
    cut = max((cut for cut in lost if cut.place <= syncs[-2]), key=lambda cut: cut.place)
    write_image(cut.image, tmp_path / "index")
    with Index.open(root, index_dir=str(tmp_path / "index"), encoder="none") as index:
        index.update()
        assert names(index) == NEW
        assert len(list((tmp_path / "index" / "text").iterdir())) == 1
