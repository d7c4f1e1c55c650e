"""The index that an evaluation searches holds no answers: not in cases, judgements, reports or sheets."""

import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dowse import Index
from dowse.eval.clean_index import answer_files, escape_pattern
from dowse.eval.datasets import load_datasets, write_cases
from dowse.eval.files import REPORT, mark_comment
from dowse.eval.types import Case, CaseResult, Dataset, Interval, Result
from dowse.source.ignore import IgnoreRules

QUESTION = "where does the xylophone quarrel with the zeppelin"
ANSWER = "music/instruments.py"


def put(place: Path, text: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode()
    place.write_bytes(gzip.compress(data) if place.suffix == ".gz" else data)
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
    "eval/packed.jsonl.gz": line(query=QUESTION, relevant_files=[ANSWER]),
    "eval/later.ndjson": line(note="a head") + line(query=QUESTION, relevant_files=[ANSWER]),
    "suite/cases/one.jsonl": line(id="1", query=QUESTION, relevant=[ANSWER], secondary=[]),
    "beir/queries-long.jsonl": line(_id="1", text=QUESTION),
    "beir/qrels/test.tsv": "query-id\tcorpus-id\tscore\n1\td1\t1\n",
    "beir/qrels/dev.tsv": f"{QUESTION}\td1\t1\n",
    "csn/annotationStore.csv": f"Language,Query,GitHubUrl,Relevance,Notes\r\nGo,{QUESTION},http://x,3,\r\n",
    "csn/queries.csv": f"query\n{QUESTION}\n",
    "out/report.json": json.dumps({"about": {"x": "y" * 5000}, "dowse_report": 1, "q": QUESTION}, indent=1),
    "out/report.md": f"{mark_comment(REPORT)}\n# Evaluation\n\n- {QUESTION}: {ANSWER}\n",
    "out/report.html": f"<!doctype html>\n{mark_comment(REPORT)}\n<p>{QUESTION}: {ANSWER}</p>\n",
    "out/sheet.json": json.dumps({"dowse_sheet": 1, "queries": [{"text": QUESTION, "grades": {ANSWER: 3}}]}),
    "out/details.jsonl": line(set="s", mode="auto", id="1", query=QUESTION, found=[], relevant=[ANSWER]),
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
    assert {"eval/cases.jsonl", "out/report.md", "csn/annotationStore.csv"} <= leaked

    with indexed(tree, tmp_path / "clean", answer_files(tree, [dataset])) as clean:
        paths = {file.path for file in clean.files()}
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


def test_packed_files_that_are_none_are_not_opened(tree, tmp_path):
    before = answer_files(tree)
    (tmp_path / "outside.jsonl.gz").write_bytes(gzip.compress(b'{"query": "a", "relevant_files": ["b"]}\n'))
    (tree / "linked.jsonl.gz").symlink_to(tmp_path / "outside.jsonl.gz")
    (tree / "zero.jsonl.gz").symlink_to("/dev/zero")
    os.mkfifo(tree / "fifo.jsonl.gz")  # opening it waits for a writer
    assert answer_files(tree) == before


def test_files_of_a_dataset_are_left_out_whatever_they_look_like(tree, tmp_path):
    own = put(tree / "notes/mine.txt", QUESTION)
    elsewhere = put(tmp_path / "other.txt", QUESTION)
    dataset = Dataset("mine", (Case(QUESTION, {ANSWER: 1}),), files=(own, elsewhere))
    assert answer_files(tree, [dataset]) == ("/notes/mine.txt",)
    assert answer_files(tree, [own]) == ("/notes/mine.txt",)


def test_what_the_index_brings_back_is_looked_at(tree, tmp_path):
    put(tree / ".cache/cases.jsonl", ANSWERS["eval/cases.jsonl"])
    put(tree / ".cache/code.py", "def cached(): pass\n")
    assert answer_files(tree) == ()  # nobody indexes this folder
    back = ("!.cache/",)
    patterns = answer_files(tree, exclude=back)
    assert patterns == ("/.cache/cases.jsonl",)
    with indexed(tree, tmp_path / "back", (*back, *patterns)) as index:
        assert {file.path for file in index.files() if ".cache" in file.path} == {".cache/code.py"}


def test_a_report_of_ours_is_known(tree):
    from dowse.eval.reports.json_form import details, to_json
    from dowse.eval.reports.model import Report, SetFacts, SetReport

    case = CaseResult("1", QUESTION, {"mrr@100": 0.0}, (), (ANSWER,))
    row = Result("auto", "s", "file", {"mrr@100": 0.0}, {"mrr@100": Interval(0, 0)}, {}, (case,))
    facts = SetFacts.of(Dataset("s", (Case(QUESTION, {ANSWER: 1}, id="1"),), metric="mrr@100"), {})
    report = Report({}, (SetReport(facts, (row,), ""),), ())
    put(tree / "report.json", json.dumps(to_json(report), sort_keys=True))
    put(tree / "details.jsonl", "".join(line(**each) for each in details(report)))
    assert answer_files(tree) == ("/details.jsonl", "/report.json")


def test_of_a_beir_folder_only_the_corpus_is_indexed(tmp_path):
    folder = tmp_path / "beir"
    put(folder / "corpus.jsonl", line(_id="d1", title="strike", text="def strike(bar): return bar"))
    put(folder / "queries.jsonl.gz", line(_id="1", text=QUESTION))
    put(folder / "queries-plain.jsonl", line(_id="1", text=QUESTION))
    put(folder / "qrels/test.tsv", "query-id\tcorpus-id\tscore\n1\td1\t1\n")
    write_cases(folder / "more.jsonl", [Case(QUESTION, {"d1": 1})])
    put(folder / "README.md", QUESTION)
    datasets = load_datasets(folder)
    exclude = answer_files(folder, datasets)
    assert exclude == ()
    with indexed(folder, tmp_path / "index", exclude) as index:
        assert [symbol.key for symbol in index.symbols()] == ["d1"]
        assert index.file_count() == 1
        assert not index.search(QUESTION, mode="keyword").hits
        assert [hit.symbol.id for hit in index.search("strike", mode="keyword")] == ["d1"]


def test_documentation_that_asks_is_not_indexed(tmp_path):
    code = f'def strike(bar):\n    """{QUESTION}."""\n    return bar'
    beside = {"code": "func Strike() {}", "docstring": f"{QUESTION} again", "language": "go", "url": "u2"}
    rows = line(code=code, docstring=f"{QUESTION}.", language="python", url="u1") + line(**beside)
    (dataset,) = load_datasets(put(tmp_path / "functions.jsonl", rows))
    assert dataset.strip_docs
    settings = {"encoder": "none", "index_dir": str(tmp_path / "index"), "strip_docs": dataset.strip_docs}
    with Index.open(dataset.root, exclude=answer_files(dataset.root, [dataset]), **settings) as index:
        index.update()
        assert len(index.symbols()) == 2
        assert not index.search(QUESTION, mode="keyword").hits


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


def test_odd_names_are_left_out_of_a_real_index(tmp_path):
    root = tmp_path / "tree"
    put(root / "a.py", "def a(): pass\n")
    for name in ("b\nc.jsonl", "#d.jsonl", "!e .jsonl", "f\\.jsonl", "g\udce9.jsonl"):
        put(root / name, ANSWERS["eval/cases.jsonl"])
    with indexed(root, tmp_path / "index", answer_files(root)) as index:
        assert [file.path for file in index.files()] == ["a.py"]
        assert index.as_built().settings.exclude == index.settings.exclude


def test_our_own_repository_hides_its_questions():
    """What git knows of this repository and holds questions is under a pattern."""
    root = Path(__file__).parents[2]
    sets = [path.relative_to(root).as_posix() for path in (root / "src/dowse/eval/sets").glob("*.jsonl")]
    assert sets
    rules = IgnoreRules(answer_files(root))
    assert all(map(rules.ignores, sets))
    listed = subprocess.run(
        ["git", "ls-files", "src", "docs"], cwd=root, capture_output=True, text=True, check=False
    )
    assert not any(map(rules.ignores, [f for f in listed.stdout.splitlines() if f.endswith(".py")]))
