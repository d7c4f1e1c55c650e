"""Written questions meet their functions, and the functions beside them."""

from __future__ import annotations

import gzip
import json

from dowse_training.cli import main
from dowse_training.pairs.exclusion import text_hash
from dowse_training.pairs.questions import NEIGHBOURS, question_pairs


def function(number: int, **changes: str) -> dict[str, str]:
    code = f"def work{number}():\n    return {number}"
    return {"lang": "python", "pkg": "tool", "name": f"work{number}", "doc": "Work.", "code": code, **changes}


def question(number: int, *texts: str) -> dict[str, object]:
    code_hash = text_hash(function(number)["code"])
    return {"lang": "python", "pkg": "tool", "name": "", "code_hash": code_hash, "questions": list(texts)}


def test_each_question_is_a_pair_with_the_function_it_asks_for():
    asked = [question(1, "who starts it?", "begin")]
    found = list(question_pairs(asked, [function(1), function(1, pkg="other"), function(1, lang="go")]))
    assert [(each["doc"], each["name"]) for each in found] == [
        ("who starts it?", "work1"),
        ("begin", "work1"),
    ]
    assert {(each["pkg"], each["kind"]) for each in found} == {("python/tool", "question")}


def test_some_functions_of_the_package_come_along_with_their_documentation():
    found = list(question_pairs([question(1, "begin")], map(function, range(40))))
    assert sum(each["doc"] == "Work." for each in found) == NEIGHBOURS
    assert [each["name"] for each in found if each["doc"] == "begin"] == ["work1"]


def test_the_command_writes_pairs_that_shards_are_made_of(tmp_path, capsys):
    (tmp_path / "asked.jsonl").write_text(json.dumps(question(2, "begin")) + "\n")
    rows = [{key: value for key, value in function(number).items() if key != "lang"} for number in (1, 2)]
    (tmp_path / "python.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "go.valid.jsonl").write_text(json.dumps(function(2, lang="go")) + "\n")
    command = ["questions", str(tmp_path / "asked.jsonl"), *(str(tmp_path / n) for n in ("python.jsonl",))]
    assert main([*command, str(tmp_path / "go.valid.jsonl"), "--out", str(tmp_path / "out")]) == 0
    with gzip.open(tmp_path / "out" / "questions.jsonl.gz", "rt") as lines:
        assert [json.loads(line)["doc"] for line in lines] == ["Work.", "begin"]
    assert "2 pairs of 1 functions" in capsys.readouterr().out
