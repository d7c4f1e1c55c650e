"""Corpora of functions: their formats, their mistakes, and updates of them."""

from __future__ import annotations

import os

import pytest

from dowse import Index

from helpers import image, json_lines


def function(number: int, **more: object) -> dict[str, object]:
    code = f"def solve_{number}(x):\n    return x * {number}\n"
    return {"id": f"f{number}", "name": f"solve_{number}", "language": "python", "code": code, **more}


@pytest.fixture
def corpus(tmp_path):
    path = json_lines(tmp_path / "functions.jsonl", [function(i) for i in range(5)])
    with Index.open(path, index_dir=str(tmp_path / "index")) as index:
        index.update()
        yield path, index


def test_plain_json_lines(corpus):
    _, index = corpus
    assert index.contents.file_count() == 5
    (best, *_) = index.search("solve_3").hits
    assert (best.symbol.id, best.symbol.name, best.symbol.kind) == ("f3", "solve_3", "function")
    assert best.symbol.code == function(3)["code"]
    assert [h.symbol.id for h in index.search("/x . 4/").hits] == ["f4"]
    assert [h.symbol.id for h in index.search("solve lang:python sym:solve_2").hits] == ["f2"]


def test_an_updated_corpus_equals_a_fresh_one(corpus, tmp_path):
    path, index = corpus
    rows = [function(0), function(2, code="def solve_2(): return 'changed'"), function(9)]
    json_lines(path, rows)
    report = index.update()
    assert (report.added, report.changed, report.deleted, report.unchanged) == (1, 1, 3, 1)
    with Index.open(path, index_dir=str(tmp_path / "fresh")) as fresh:
        fresh.update()
        assert image(index) == image(fresh)
    assert index.backend.check() == []


def test_bad_lines_are_listed_by_file_and_line(tmp_path):
    bad = ["{ not json", "[1, 2]", {"name": "no code"}, ""]
    json_lines(tmp_path / "set" / "a.jsonl", [function(1), *bad])
    json_lines(tmp_path / "set" / "b.jsonl", [function(2), "also not json"])
    with Index.open(tmp_path / "set", index_dir=str(tmp_path / "index")) as index:
        report = index.update()
        assert (report.added, report.skipped) == (2, 4)
        reasons = dict(index.contents.skipped())
        assert sorted(reasons) == ["a.jsonl:2", "a.jsonl:3", "a.jsonl:4", "b.jsonl:2"]
        assert reasons["a.jsonl:2"] == "not valid JSON"
        json_lines(tmp_path / "set" / "b.jsonl", [function(2)])
        assert not index.update().wrote
        assert "b.jsonl:2" not in dict(index.contents.skipped())


def test_repeated_ids_are_told(tmp_path):
    rows = [function(1), function(1, code="def other(): return 'second'"), function(2)]
    path = json_lines(tmp_path / "c.jsonl", rows)
    with Index.open(path, index_dir=str(tmp_path / "index")) as index:
        assert index.update().added == 2
        assert index.contents.file_count() == 2
        assert "second" in index.contents.symbol(index.symbols("solve_1")[0]).code
        ((place, reason),) = index.contents.skipped()
        assert place == "id f1" and "last" in reason
        assert not index.update().wrote


@pytest.mark.parametrize(
    "language", [{"language": "py"}, {"language": "Python"}, {"path": "a/b.py", "language": ""}]
)
def test_languages_go_by_their_usual_names_and_by_path(tmp_path, language):
    code = 'def solve(x):\n    """Hidden wisdom."""\n    return x\n'
    path = json_lines(tmp_path / "c.jsonl", [{"id": "1", "name": "solve", "code": code, **language}])
    with Index.open(path, index_dir=str(tmp_path / "index"), strip_docs=True) as index:
        index.update()
        assert [hit.symbol.language for hit in index.search("solve lang:py")] == ["python"]
        assert not index.search("wisdom")


def test_files_that_did_not_change_are_not_read_again(tmp_path):
    path = json_lines(tmp_path / "functions.jsonl", [function(i) for i in range(5)])
    first, size = path.read_bytes(), path.stat().st_size
    old = 1_600_000_000
    os.utime(path, (old, old))
    with Index.open(path, index_dir=str(tmp_path / "index")) as index:
        index.update()
        path.write_bytes(first.replace(b"solve_3", b"solve_9"))
        os.utime(path, (old, old))
        assert path.stat().st_size == size
        assert index.update().unchanged == 5
        os.utime(path, (old + 1, old + 1))
        assert index.update().changed == 1
        assert [row.name for row in index.symbols()].count("solve_9") == 1
