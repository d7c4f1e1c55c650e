"""The index that an evaluation searches holds no answers: not in cases, judgements, reports or sheets."""

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dowse import Index
from dowse.eval.clean_index import answer_files, escape_pattern
from dowse.eval.datasets import load_datasets
from dowse.eval.types import Case, Dataset
from dowse.source.ignore import IgnoreRules

QUESTION = "where does the xylophone quarrel with the zeppelin"
ANSWER = "music/instruments.py"


def put(place: Path, text: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


def line(**row: object) -> str:
    return json.dumps(row) + "\n"


@pytest.fixture
def tree(tmp_path):
    """A tree with code, data that only looks like questions, and answers in every form we know."""
    root = tmp_path / "tree"
    put(root / ANSWER, "def strike(bar):\n    return bar.sound()\n")
    put(root / "data/rows.jsonl", line(query="SELECT 1", rows=3))
    put(root / "data/queries.jsonl", line(_id="1", text="SELECT 2"))
    put(root / "data/table.csv", "query,milliseconds\nSELECT 3,5\n")
    put(root / "data/settings.json", '{"report": {"dowse": 1}}\n')
    put(root / "docs/guide.md", "# Guide\n\nReports begin with a mark, see below.\n")
    return root


ANSWERS = {
    "eval/cases.jsonl": "# ours\n" * 50 + line(query=QUESTION, relevant_files=[ANSWER]),
    "eval/odd name [1]*.jsonl": line(query=QUESTION, relevant_symbols={"strike": 2}),
    "eval/later.ndjson": line(note="a head") + line(query=QUESTION, relevant_files=[ANSWER]),
    "out/report.json": json.dumps({"about": {"x": "y" * 5000}, "dowse_report": 1, "q": QUESTION}, indent=1),
    "suite/cases/one.jsonl": line(id="1", query=QUESTION, relevant=[ANSWER], secondary=[]),
}


def put_answers(root: Path) -> None:
    for name, text in ANSWERS.items():
        put(root / name, text)


def indexed(root: Path, place: Path, exclude: tuple[str, ...]) -> Index:
    """Return the index that a run would build."""
    index = Index.open(root, exclude=exclude, encoder="none", index_dir=str(place), refresh="never")
    index.update()
    return index


def found_files(index: Index, text: str) -> set[str]:
    words = {hit.symbol.path for hit in index.search(text, k=50, mode="keyword")}
    return words | {hit.symbol.path for hit in index.search(f'"{text}"', k=0)}


def test_no_answer_is_indexed_and_no_question_found(tree, tmp_path):
    put_answers(tree)
    (dataset,) = load_datasets(tree / "eval/cases.jsonl")
    with indexed(tree, tmp_path / "all", ()) as everything:
        leaked = found_files(everything, QUESTION)
    # Without us the question leads to the answers, so the test would see it.
    assert {"eval/cases.jsonl", "suite/cases/one.jsonl"} <= leaked

    with indexed(tree, tmp_path / "clean", answer_files(tree, [dataset])) as clean:
        paths = {file.path for file in clean.contents.files()}
        assert paths.isdisjoint(ANSWERS)
        assert {ANSWER, "docs/guide.md", "data/rows.jsonl", "data/settings.json"} <= paths
        assert found_files(clean, QUESTION) == set()
        assert found_files(clean, "strike") == {ANSWER}


@pytest.mark.parametrize("name", ANSWERS)
def test_each_form_is_known_by_itself(tree, name):
    put_answers(tree)
    rules = IgnoreRules(answer_files(tree))
    assert rules.ignores(name)


def test_nothing_else_is_left_out(tree):
    assert answer_files(tree) == ()
    put_answers(tree)
    assert len(answer_files(tree)) == len(ANSWERS)


def test_files_of_a_dataset_are_left_out_whatever_they_look_like(tree, tmp_path):
    own = put(tree / "notes/mine.txt", QUESTION)
    elsewhere = put(tmp_path / "other.txt", QUESTION)
    dataset = Dataset("mine", (Case(QUESTION, {ANSWER: 1}),), files=(own, elsewhere))
    assert answer_files(tree, [dataset]) == ("/notes/mine.txt",)
    assert answer_files(tree, [own]) == ("/notes/mine.txt",)


names = st.text(st.characters(exclude_characters="/\0", exclude_categories=("Cs",)), min_size=1, max_size=8)


@given(folder=names, name=names, other=names)
@example("a ", "!b ", "!b")
@example("#[x]", "*", "y")
@example("a\\", "b\\ ", "b")
def test_a_pattern_means_one_file_whatever_its_name(folder, name, other):
    path = f"{folder}/{name}.txt"
    rules = IgnoreRules([escape_pattern(path)])
    assert rules.ignores(path)
    assert not rules.ignores(f"deeper/{path}")
    if other != name and not set("\n\r") & set(path):
        assert not rules.ignores(f"{folder}/{other}.txt")
