"""Files of pairs are found, told apart and read, whatever they are packed in."""

from __future__ import annotations

import gzip
import json
import lzma

import pytest

from dowse.errors import DowseError
from dowse_training.pairs.files import find_files, languages_of, read_rows, rows_of

ROW = {"pkg": "p", "name": "A.f", "doc": "Do it well.", "code": "def f(): pass"}


def write(path, *rows):
    opener = {".xz": lzma.open, ".gz": gzip.open}.get(path.suffix, open)
    with opener(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)


def test_names_rows_and_the_user_say_the_language(tmp_path):
    write(tmp_path / "go.jsonl.xz", ROW)
    write(tmp_path / "go.valid.jsonl.gz", ROW)
    write(tmp_path / "mixed.jsonl", {**ROW, "lang": "rust"}, {**ROW, "lang": "c"})
    (tmp_path / "README.md").touch()
    (tmp_path / "more").mkdir()
    write(tmp_path / "more" / "own-train.jsonl", ROW)
    files = find_files([str(tmp_path), f"python={tmp_path / 'more' / 'own-train.jsonl'}"])
    assert {file.path.name: (file.language, file.valid) for file in files} == {
        "go.jsonl.xz": ("go", False),
        "go.valid.jsonl.gz": ("go", True),
        "mixed.jsonl": ("", False),
        "own-train.jsonl": ("python", False),
    }
    assert languages_of(files) == ["c", "go", "python", "rust"]
    assert [row["lang"] for row in rows_of(files, "rust")] == ["rust"]
    assert len(list(rows_of(files, "go"))) == 2


def test_fields_may_be_named_as_in_codesearchnet(tmp_path):
    theirs = {"repo": "p", "func_name": "A.f", "docstring": "Do it well.", "code": "def f(): pass"}
    write(tmp_path / "python.jsonl", theirs)
    [row] = read_rows(tmp_path / "python.jsonl")
    assert ROW.items() <= row.items()


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_no_pairs_is_an_error_with_a_remedy(tmp_path, name):
    (tmp_path / "empty").mkdir()
    with pytest.raises(DowseError, match="pairs"):
        find_files([str(tmp_path / name)])


@pytest.mark.parametrize("data", [b"not xz", lzma.compress(b"{}\n"), lzma.compress(b"[1]\n")])
def test_a_file_of_something_else_is_named(tmp_path, data):
    (tmp_path / "go.jsonl.xz").write_bytes(data)
    with pytest.raises(DowseError, match=r"go\.jsonl\.xz is not a file of pairs"):
        list(read_rows(tmp_path / "go.jsonl.xz"))
