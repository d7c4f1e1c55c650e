"""Comments as questions: the most telling one, and the code without any."""

from __future__ import annotations

import gzip
import json

import pytest

from dowse_training.cli import main
from dowse_training.pairs.comments import comment_pair

CODE = """def load(path):
    # read
    data = open(path).read()
    # convert the bytes of the header
    # to a dictionary
    header = parse(data)
    return header"""


def pair(code: str) -> dict[str, str]:
    return {"pkg": "tool", "name": "load", "doc": "Load a file.", "code": code}


def test_lines_of_one_comment_are_joined_and_the_code_has_none_left():
    found = comment_pair(pair(CODE))
    assert found is not None
    assert found["doc"] == "convert the bytes of the header to a dictionary"
    assert "#" not in found["code"] and "header = parse(data)" in found["code"]
    assert (found["kind"], found["pkg"]) == ("comment", "tool")


@pytest.mark.parametrize(
    "comment",
    [
        "# TODO handle the other kinds of files",
        "# noqa for the line that follows here",
        "# value = compute(the, other, thing)",
        "# see http example for what this does",
        "# for every name in the list:",
        "# two words",
        "#include <stdio.h>",
        "#define the longest name of a file",
    ],
)
def test_what_is_no_prose_is_no_question(comment):
    assert comment_pair(pair(f"def load(path):\n    {comment}\n    a = 1\n    return a")) is None


def test_the_command_writes_a_file_for_each_file(tmp_path, capsys):
    source = tmp_path / "python.valid.jsonl.gz"
    with gzip.open(source, "wt") as lines:
        lines.write(json.dumps(pair(CODE)) + "\n" + json.dumps(pair("def f():\n    return 1\n")) + "\n")
    assert main(["comments", str(source), "--out", str(tmp_path / "out")]) == 0
    with gzip.open(tmp_path / "out" / "python.valid.jsonl.gz", "rt") as lines:
        assert [json.loads(line)["kind"] for line in lines] == ["comment"]
    assert "python.valid: 1 comments" in capsys.readouterr().out
