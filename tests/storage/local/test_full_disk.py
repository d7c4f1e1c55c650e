"""An index on a full disk: the last generation answers, writers say what is wrong, space is the remedy."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from dowse import Index
from dowse.errors import IndexUnavailable
from dowse.feedback.events import Event
from dowse.feedback.store import FeedbackStore

from helpers import run_dowse, write_tree

FILES = {f"m{n}.py": f"def heat_oven_{n}(degrees):\n    return degrees * {n}\n" for n in range(40)}
# From none to nearly enough: where it ends decides what fails, SQLite's log, tantivy or the lock.
FREE_KILOBYTES = [0, 4, 24, 60, 120]


def fill(disk: Path, free_kilobytes: int) -> Path:
    """Fill a disk but for some kilobytes."""
    stat = os.statvfs(disk)
    filler = disk / "filler"
    filler.write_bytes(bytes(stat.f_bavail * stat.f_frsize - 1024 * free_kilobytes))
    return filler


@pytest.mark.parametrize("free", FREE_KILOBYTES)
def test_the_last_generation_answers_and_space_is_the_remedy(tmp_path, small_disk, free):
    root = write_tree(tmp_path / "tree", FILES)
    with Index.open(root, index_dir=str(small_disk / "index"), encoder="none") as index:
        index.update()
        filler = fill(small_disk, free)
        (root / "new.py").write_text("".join(f"def cool_oven_{n}(x):\n    return x\n" for n in range(2_000)))
        for rebuild in (False, True):
            with pytest.raises(IndexUnavailable, match=r"free some space|full"):
                index.update(rebuild=rebuild)
            assert index.search("heat oven").hits
    with Index.open(root, index_dir=str(small_disk / "index"), encoder="none") as index:
        assert index.search("heat oven").hits
        filler.unlink()
        index.update()
        assert index.search("cool oven").hits and index.backend.check() == []


def test_commands_answer_with_a_note_or_fail_in_one_line(tmp_path, small_disk):
    root = write_tree(tmp_path / "tree", FILES)
    place = (root, "--index-dir", small_disk / "index")
    assert run_dowse("index", *place, DOWSE_ENCODER="none").returncode == 0
    fill(small_disk, 0)
    (root / "new.py").write_text("def cool_oven(x):\n    return x\n")
    found = run_dowse("search", "heat oven", *place, DOWSE_ENCODER="none")
    assert found.returncode == 0 and "heat_oven" in found.stdout
    assert "without the latest changes" in found.stderr and found.stderr.count("\n") == 1
    failed = run_dowse("index", *place, DOWSE_ENCODER="none")
    assert failed.returncode == 2 and failed.stderr.count("\n") == 1 and "full" in failed.stderr
    cleared = run_dowse("clear", *place)
    assert cleared.returncode == 0 and not (small_disk / "index" / "catalog.sqlite").exists()


def test_feedback_names_the_remedy(small_disk):
    filler = fill(small_disk, 0)
    with closing(FeedbackStore(small_disk / "feedback.sqlite")) as full:
        with pytest.raises(IndexUnavailable, match="free some space"):
            full.record(Event("q", "s", "click", "ann"))
        filler.unlink()
        assert full.record(Event("q", "s", "click", "ann")).query == "q"
