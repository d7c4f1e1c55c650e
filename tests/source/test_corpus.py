"""Corpora of functions are recognised and read, bad lines and all."""

import gzip
import json

import pytest

from dowse.errors import SourceError
from dowse.source.corpus import CorpusProblem, is_corpus, open_corpus

CODE = 'def f():\n    """Doc."""\n    return 1'
URL = "https://github.com/o/r/blob/abc/p/a.py#L10-L20"

BEIR = {
    "_id": "f1",
    "title": "C.f",
    "text": CODE,
    "metadata": {"repo": "o/r", "path": "p/a.py", "language": "python", "docstring": "Doc.", "url": URL},
}
CSN = {
    "repo": "o/r",
    "path": "p/a.py",
    "func_name": "C.f",
    "original_string": CODE,
    "language": "Python",
    "code": CODE,
    "code_tokens": ["def", "f"],
    "docstring": "Doc.",
    "docstring_tokens": ["Doc", "."],
    "sha": "abc",
    "partition": "test",
    "url": URL,
}
CSN_HUB = {
    "repository_name": "o/r",
    "func_path_in_repository": "p/a.py",
    "func_name": "C.f",
    "whole_func_string": CODE,
    "language": "python",
    "func_code_string": CODE,
    "func_code_tokens": ["def", "f"],
    "func_documentation_string": "Doc.",
    "func_documentation_tokens": ["Doc", "."],
    "split_name": "test",
    "func_code_url": URL,
}
PLAIN = {"id": 7, "content": CODE, "name": "C.f", "doc": "Doc.", "language": "python"}
PLAIN |= {"path": "p/a.py", "repo": "o/r"}


def write(place, *rows):
    """Write rows (or raw lines) as JSONL, packed when the name says so."""
    place.parent.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    data = b"\n".join(lines) + b"\n"
    place.write_bytes(gzip.compress(data) if place.suffix == ".gz" else data)
    return place


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
@pytest.mark.parametrize(("row", "identity"), [(BEIR, "f1"), (CSN, URL), (CSN_HUB, URL), (PLAIN, "7")])
def test_every_spelling_means_the_same(tmp_path, name, row, identity):
    place = write(tmp_path / name, row)
    assert is_corpus(place)
    (function,) = open_corpus(place)
    assert function.id == identity
    assert (function.repo, function.path, function.name) == ("o/r", "p/a.py", "C.f")
    assert (function.language, function.code, function.doc) == ("python", CODE, "Doc.")
    assert function.start_line == (10 if row is not PLAIN else 1)


def test_a_beir_folder(tmp_path):
    write(tmp_path / "corpus.jsonl.gz", BEIR, {**BEIR, "_id": "f2", "metadata": {}})
    write(tmp_path / "queries.jsonl", {"_id": "q1", "text": "how"})
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_text("q1\tf1\t1\n")
    assert is_corpus(tmp_path)
    assert [function.id for function in open_corpus(tmp_path)] == ["f1", "f2"]


def test_a_folder_of_files(tmp_path):
    for split in ("train", "test"):
        write(tmp_path / f"python/final/jsonl/{split}/python_{split}_0.jsonl.gz", CSN)
    (tmp_path / "python_licenses.pkl").touch()
    assert is_corpus(tmp_path)
    assert len(list(open_corpus(tmp_path))) == 2


def test_ordinary_repositories_are_no_corpora(tmp_path):
    write(tmp_path / "repo/tests/data/corpus.jsonl", BEIR)
    write(tmp_path / "repo/corpus.jsonl", BEIR)
    (tmp_path / "repo/setup.py").touch()
    (tmp_path / "empty").mkdir()
    write(tmp_path / "data/events.jsonl", {"time": 1})
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/README.md").touch()
    for name in ("repo", "empty", "data", "docs", "missing", "repo/setup.py", "data/events.jsonl"):
        assert not is_corpus(tmp_path / name), name


def test_bad_lines_are_told_and_left_out(tmp_path):
    deep = b'{"code": ' + b"[" * 100_000
    bad = [b"{oops", b"", b"[1]", {"name": "f"}, {"code": ["def", "f"]}, {"code": "  "}, b'"\xff"', deep]
    bad.append({"code": "a" * 1_000_001})
    found = list(open_corpus(write(tmp_path / "x.jsonl", PLAIN, *bad, PLAIN)))
    problems = [item for item in found if isinstance(item, CorpusProblem)]
    assert len(found) - len(problems) == 2
    assert [problem.line for problem in problems] == [2, 4, 5, 6, 7, 8, 9, 10]
    assert problems[0] == CorpusProblem(str(tmp_path / "x.jsonl"), 2, "not valid JSON")
    assert problems[2].reason.startswith("no code")


@pytest.mark.parametrize("content", [b"", b"not json\n", b'{"a": 1}\n' * 30, b"\x1f\x8b\x08garbage"])
@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
def test_a_wholly_wrong_file_is_a_users_mistake(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert not is_corpus(tmp_path / name)
    with pytest.raises(SourceError, match=r"every line must be|check the path"):
        open_corpus(tmp_path / name)


def test_a_truncated_file_gives_what_it_has(tmp_path):
    place = write(tmp_path / "x.jsonl.gz", *({"code": f"def f{i}(): return {i * 7919}"} for i in range(3000)))
    place.write_bytes(place.read_bytes()[:-2000])
    *functions, last = open_corpus(place)
    assert 0 < len(functions) < 3000
    assert isinstance(last, CorpusProblem)
    assert "damaged from here on" in last.reason
