"""Trees too large for one transaction: committed in chunks, gone on with after an interruption."""

from __future__ import annotations

import pytest

from dowse import Index
from dowse.indexing import update

from helpers import image


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setattr(update, "COMMIT_BYTES", 100)
    for i in range(12):
        (tmp_path / "tree").mkdir(exist_ok=True)
        (tmp_path / "tree" / f"m{i}.py").write_text(
            f"def work_{i}(x):\n    return 'some text to fill it' * {i}\n"
        )
    return tmp_path / "tree"


def test_chunks_make_the_same_index(tree, tmp_path, monkeypatch):
    with Index.open(tree, index_dir=str(tmp_path / "chunks")) as index:
        report = index.update()
        assert report.added == 12 and report.generation > 3
        assert index.backend.check() == [] and not index.update().wrote
        assert index.search("work").notes == ()
        found = image(index)
    monkeypatch.undo()
    with Index.open(tree, index_dir=str(tmp_path / "whole")) as index:
        assert index.update().generation == 1
        assert image(index) == found


def test_an_interrupted_run_says_so_and_goes_on(tree, tmp_path):
    def stop(progress: update.Progress) -> None:
        if progress.done == 7:
            raise KeyboardInterrupt

    with Index.open(tree, index_dir=str(tmp_path / "index")) as index:
        with pytest.raises(KeyboardInterrupt):
            index.update(on_progress=stop)
        assert 0 < index.contents.file_count() < 12
        assert any("a part of the files" in str(note) for note in index.search("work").notes)
        report = index.update()
        assert report.added + report.unchanged == 12 and report.unchanged > 0
        assert index.search("work").notes == () and index.contents.file_count() == 12
