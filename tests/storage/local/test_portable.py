"""An index is a folder like any other: it can be copied, moved, and read where nothing can be written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from dowse import Index
from dowse.errors import DowseError

from helpers import age, contents, image, run_dowse, write_tree


def test_copied_with_its_repository(sample_copy, tmp_path):
    with Index.open(sample_copy, index_dir=str(tmp_path / "index")) as index:
        index.update()
        before, answer = image(index), index.search("bake bread")
    place = tmp_path / "far" / "away"
    shutil.copytree(sample_copy, place / "renamed")
    shutil.copytree(tmp_path / "index", place / "index")
    shutil.rmtree(sample_copy)
    shutil.rmtree(tmp_path / "index")
    written = contents(place / "index")
    with Index.open(place / "renamed", index_dir=str(place / "index")) as index:
        assert image(index) == before
        assert index.search("bake bread") == answer
        assert not index.update().wrote
        assert index.status()["root"] == str(place / "renamed")
        assert not any(index.status()["changes"].values())
    assert contents(place / "index") == written


def test_an_index_inside_its_tree_leaves_itself_out(sample_copy):
    """Also one whose folder no ignore file names."""
    age(sample_copy)
    with Index.open(sample_copy, index_dir=str(sample_copy / "sub" / "index")) as index:
        index.update()
        assert not any("index/" in file.path for file in index.contents.files())
        report = index.update()
        assert not report.wrote and report.generation == 1
        assert not any(index.status()["changes"].values())
        assert ("sub/index/", "cache folder") in index.contents.skipped()


def test_one_index_is_not_for_two_places(tmp_path):
    one = write_tree(tmp_path / "one", {"a.py": "def one(): ...\n", "b.py": "def both(): ...\n"})
    two = write_tree(tmp_path / "two", {"c.py": "def two(): ...\n"})
    folder = str(tmp_path / "index")
    with Index.open(one, index_dir=folder) as index:
        index.update()
        before = image(index)
    with Index.open(two, index_dir=folder) as index:
        for action in (index.update, index.contents.changes, index.status):
            with pytest.raises(DowseError, match=rf"belongs to {one}.*--index-dir.*dowse clear"):
                action()
        assert image(index) == before
        shutil.copy(one / "b.py", two)  # a copy that went its own way
        assert index.update().deleted == 1


def test_copied_without_times(sample_copy, tmp_path):
    """A checkout elsewhere has new times; content hashes tell that nothing changed."""
    with Index.open(sample_copy, index_dir=str(tmp_path / "index")) as index:
        index.update()
        before = image(index)
        age(sample_copy)
        report = index.update()
        assert (report.wrote, report.changed, report.generation) == (False, 0, 1)
        assert image(index) == before
        written = contents(tmp_path / "index")
        index.update()
        assert contents(tmp_path / "index") == written


def test_no_change_no_writes(sample_copy, tmp_path):
    with Index.open(sample_copy, index_dir=str(tmp_path / "index")) as index:
        index.update()
    written = contents(tmp_path / "index")
    with Index.open(sample_copy, index_dir=str(tmp_path / "index")) as index:
        report = index.update()
        assert not report.wrote and report.generation == 1 and report.unchanged > 5
        index.search("bread")
        index.search("/bread/")
        index.status()
    assert contents(tmp_path / "index") == written


# Before the superuser no file is safe, unless it gives this right up.
WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.skipif(
    not os.getuid() and not shutil.which("setpriv"), reason="the superuser may write anywhere"
)
def test_read_where_nothing_can_be_written(sample_copy, tmp_path):
    """Searching, by words and by text, and asking for the status need no permission to write."""
    folder = tmp_path / "index"
    assert run_dowse("index", sample_copy, "--index-dir", folder).returncode == 0
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    written = contents(folder)
    for arguments in (["search", "bread", "--fuzziness=0"], ["search", "/bread/"], ["status"], ["doctor"]):
        done = run_restricted(*arguments, str(sample_copy), "--index-dir", str(folder))
        assert (done.returncode, done.stderr) == (0, ""), arguments
    done = run_restricted("search", "bread", "--mode", "tfidf", str(sample_copy), "--index-dir", str(folder))
    assert done.returncode == 0 and done.stdout
    assert done.stderr.count("\n") == 1 and "counts of terms can't be kept" in done.stderr
    assert contents(folder) == written
    (sample_copy / "new.py").write_text("def newcomer(): ...\n")
    done = run_restricted("index", str(sample_copy), "--index-dir", str(folder))
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and str(folder) in done.stderr
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755)


def run_restricted(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command as somebody who may only read."""
    command = [sys.executable, "-m", "dowse.interfaces.cli.main", *arguments]
    if not os.getuid():
        command = WITHOUT_RIGHTS + command
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
