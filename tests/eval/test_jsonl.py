"""Cases as JSONL: all spellings are read, what is written comes back, mistakes are told with their line."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.errors import EvalError
from dowse.eval.datasets import read_cases, write_cases
from dowse.eval.datasets.jsonl import with_ids
from dowse.eval.types import Case


def written(folder, *rows, name="cases.jsonl"):
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    data = ("\n".join(lines) + "\n").encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder / name


def read_one(folder, **row):
    (case,) = read_cases(written(folder, {"query": "q", **row}))
    return case


def test_all_spellings_of_files(tmp_path):
    assert read_one(tmp_path, relevant_files=["a.py", "./b.py#3-9"]).files == {"a.py": 1, "b.py#3-9": 1}
    assert read_one(tmp_path, relevant_files={"a.py": 3, "b.py": 0}).files == {"a.py": 3, "b.py": 0}
    objects = [
        {"path": "a.py", "start_line": 10, "end_line": 20, "grade": 2},
        {"path": "b.py", "start_line": 7},
        {"path": "c.py", "grade": 0.5},
        "c#/d.cs",
    ]
    expected = {"a.py#10-20": 2, "b.py#7-7": 1, "c.py": 0.5, "c#/d.cs": 1}
    assert read_one(tmp_path, relevant_files=objects).files == expected


def test_all_spellings_of_symbols(tmp_path):
    objects = [{"path": "a.py", "symbol": "C.f", "grade": 2}, {"name": "g"}, "b.py::h", "id-7"]
    expected = {"a.py::C.f": 2, "g": 1, "b.py::h": 1, "id-7": 1}
    assert read_one(tmp_path, relevant_symbols=objects).symbols == expected
    case = read_one(tmp_path, relevant_symbols={"g": 2}, relevant_files=["a.py"], source="hand", id=7)
    assert (case.symbols, case.files, case.source, case.id) == ({"g": 2}, {"a.py": 1}, "hand", "7")


@pytest.mark.parametrize("name", ["cases.jsonl", "cases.jsonl.gz"])
def test_comments_blank_lines_and_a_mark_at_the_start_are_passed_over(tmp_path, name):
    row = json.dumps({"query": "where?", "relevant_files": ["a.py"], "category": "any"})
    place = written(tmp_path, "\ufeff# ours", "", "  // more", row, "   ", name=name)
    (case,) = read_cases(place)
    assert case.query == "where?"


BAD = [
    ("{", "not valid JSON"),
    ("[1]", "not a JSON object"),
    ({"relevant_files": ["a"]}, "no question"),
    ({"query": "  ", "relevant_files": ["a"]}, "no question"),
    ({"query": "q"}, "no answer"),
    ({"query": "q", "relevant_files": []}, "no answer"),
    ({"query": "q", "relevant_files": "a.py"}, "must be a list"),
    ({"query": "q", "relevant_files": [""]}, "a path or a name"),
    ({"query": "q", "relevant_files": [3]}, "a path or a name"),
    ({"query": "q", "relevant_files": {"a": -1}}, "a grade is a number"),
    ({"query": "q", "relevant_files": {"a": "high"}}, "a grade is a number"),
    ({"query": "q", "relevant_files": {"a": True}}, "a grade is a number"),
    ({"query": "q", "relevant_files": {"a": float("nan")}}, "a grade is a number"),
    ({"query": "q", "relevant_files": {"a": 1e9}}, "a grade is a number"),
    ({"query": "q", "relevant_files": [{"path": "a", "line": 3}]}, "has no 'line'"),
    ({"query": "q", "relevant_files": [{"path": "a", "end_line": 3}]}, "start_line"),
    ({"query": "q", "relevant_files": [{"path": "a", "start_line": "x"}]}, "lines are numbers"),
    ({"query": "q", "relevant_files": [{"path": "a", "start_line": 9, "end_line": 3}]}, "no span"),
    ({"query": "q", "relevant_files": ["a#0-3"]}, "no span"),
    ({"query": "q", "relevant_symbols": [{"path": "a"}]}, "a path or a name"),
    ({"query": "q", "relevant_symbols": [{"symbol": "a", "start_line": 1}]}, "has no 'start_line'"),
]


@pytest.mark.parametrize(("row", "message"), BAD)
def test_mistakes_name_file_line_and_remedy(tmp_path, row, message):
    good = {"query": "fine", "relevant_files": ["a.py"]}
    place = written(tmp_path, good, "# a comment", row)
    with pytest.raises(EvalError) as caught:
        read_cases(place)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{place}:3: ")


def test_a_file_that_is_missing_empty_or_cut_off(tmp_path):
    with pytest.raises(EvalError, match=r"none.jsonl can't be read"):
        read_cases(tmp_path / "none.jsonl")
    with pytest.raises(EvalError, match="no cases"):
        read_cases(written(tmp_path, "# nothing"))
    rows = [{"query": f"question {i * 7919}", "relevant_files": ["a"]} for i in range(500)]
    whole = written(tmp_path, *rows, name="cut.jsonl.gz")
    whole.write_bytes(whole.read_bytes()[:-100])
    with pytest.raises(EvalError, match="complete"):
        read_cases(whole)


def test_ids_hang_on_the_question_and_its_answers_but_not_on_grades(tmp_path):
    def made(**row):
        return read_one(tmp_path, **row).id

    first = made(relevant_files=["a", "b"])
    assert first == made(relevant_files={"b": 3, "a": 0})
    assert len({first, made(relevant_files=["a"]), made(relevant_symbols=["a", "b"])}) == 3
    again = {"query": "q", "relevant_files": ["a", "b"]}
    ids = [case.id for case in read_cases(written(tmp_path, again, again, again))]
    assert ids == [first, f"{first}-2", f"{first}-3"]


targets = st.dictionaries(
    st.text(min_size=1).filter(
        lambda text: text.strip() and not text.startswith("./") and not set(text) & set("#\\")
    )
    | st.from_regex(r"[a-z]{1,5}\.py(#[1-4]-[5-9])?", fullmatch=True),
    st.integers(0, 3) | st.floats(0, 100),
    max_size=4,
)
cases = st.builds(
    Case,
    query=st.text(min_size=1).filter(str.strip),
    files=targets,
    symbols=targets,
    id=st.text(max_size=6),
    source=st.sampled_from(["", "git", "hand"]),
).filter(lambda case: case.files or case.symbols)


@given(
    written=st.lists(cases, min_size=1, max_size=5, unique_by=lambda case: case.id or object()),
    packed=st.booleans(),
)
def test_what_is_written_is_read_back(tmp_path_factory, written, packed):
    place = tmp_path_factory.mktemp("cases") / ("c.jsonl.gz" if packed else "c.jsonl")
    write_cases(place, written)
    found = read_cases(place)
    assert found == with_ids(written)
    assert [list(case.files) for case in found] == [list(case.files) for case in written]
    assert all(case.id for case in found)
