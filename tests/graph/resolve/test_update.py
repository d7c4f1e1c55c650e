"""The graph through whole updates: in chunks, over a real history, of corpora and of odd files."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from dowse.config import Settings
from dowse.indexing import update as update_module
from dowse.indexing.update import update
from dowse.storage.local.backend import LocalBackend

from helpers import write_tree


def edges(folder: Path) -> list[tuple[object, ...]]:
    """Every edge of an index, by the keys of its symbols."""
    with LocalBackend(folder).reader() as reader:
        files = [file.file_id for file in reader.files()]
        rows = {row.row: row for row in (*reader.rows_of_files(files), *reader.names_of_files(files))}
        found = reader.edges(list(rows), limit=1 << 30)
        return sorted(
            (rows[e.source].key, rows[e.target].key, e.kind, e.line, e.column, e.confidence, e.candidates)
            for e in found
        )


def rebuilt(root: Path, folder: Path) -> list[tuple[object, ...]]:
    """The edges of a fresh index."""
    update(LocalBackend(folder), root, Settings())
    return edges(folder)


def commit_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit after every file."""
    monkeypatch.setattr(update_module, "COMMIT_BYTES", 50)


FILES = {
    f"m{n}.py": f"from m{(n + 1) % 6} import f{(n + 1) % 6}\n\n\ndef f{n}():\n    f{(n + 1) % 6}()\n"
    for n in range(6)
}


def test_an_update_in_chunks_ends_with_the_same_graph(tmp_path, monkeypatch):
    root = write_tree(tmp_path / "tree", FILES)
    expected = rebuilt(root, tmp_path / "whole")
    assert len([edge for edge in expected if edge[2] == "calls"]) == 6
    commit_often(monkeypatch)
    assert rebuilt(root, tmp_path / "chunks") == expected


def test_an_update_that_was_cut_short_is_linked_by_the_next(tmp_path, monkeypatch):
    root = write_tree(tmp_path / "tree", FILES)
    commit_often(monkeypatch)

    def fail(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(update_module, "link", fail)
        with pytest.raises(KeyboardInterrupt):
            update(LocalBackend(tmp_path / "index"), root, Settings())
    update(LocalBackend(tmp_path / "index"), root, Settings())
    assert edges(tmp_path / "index") == rebuilt(root, tmp_path / "other")


def test_a_corpus_has_no_graph(tmp_path):
    lines = [{"id": str(n), "code": f"def f{n}():\n    f{1 - n}()\n", "language": "python"} for n in range(2)]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps(line) + "\n" for line in lines))
    update(LocalBackend(tmp_path / "index"), corpus, Settings())
    assert edges(tmp_path / "index") == []


def test_a_package_that_is_the_whole_tree_is_known_by_the_name_of_its_folder(tmp_path):
    """Its repository may well be called otherwise."""
    files = {
        "__init__.py": "",
        "v1/__init__.py": "",
        "v1/tools.py": "def copied():\n    pass\n",
        "v1/main.py": "from shop.v1.tools import copied\n\n\ndef run():\n    copied()\n",
    }
    root = write_tree(tmp_path / "clone" / "shop", files)
    for command in (["init", "-q"], ["remote", "add", "origin", "https://example.org/acme/store.git"]):
        subprocess.run(["git", "-C", str(root.parent), *command], check=True)
    calls = [edge for edge in rebuilt(root, tmp_path / "index") if edge[2] == "calls"]
    assert [edge[5] for edge in calls] == ["resolved"]
