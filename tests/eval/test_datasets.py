"""Sets are known by what they are, and become datasets with the right level, metric, root and halves."""

import gzip
import json
from pathlib import Path

import pytest

from dowse.errors import EvalError
from dowse.eval.datasets import load_datasets, write_cases
from dowse.eval.datasets.build import half_of
from dowse.eval.types import Case

CSN = {
    "repo": "o/r",
    "path": "p/a.py",
    "func_name": "C.f",
    "language": "python",
    "code": 'def f():\n    """Doc."""\n    return 1',
    "docstring": "Doc.",
    "url": "https://github.com/o/r/blob/abc/p/a.py#L10-L20",
}
HUB = {
    "repository_name": "o/r",
    "func_path_in_repository": "p/b.py",
    "func_name": "g",
    "func_code_string": "def g(): pass",
    "func_documentation_string": "Open the door.",
    "func_code_url": "https://github.com/o/r/blob/abc/p/b.py#L1-L2",
}


def put(place: Path, *rows: object) -> Path:
    """Write rows as JSONL, packed when the name says so."""
    place.parent.mkdir(parents=True, exist_ok=True)
    data = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    place.write_bytes(gzip.compress(data) if place.suffix == ".gz" else data)
    return place


@pytest.fixture
def beir(tmp_path):
    """A BEIR folder with two files of queries, one query that nobody judged, and a grade of 0."""
    folder = tmp_path / "doors"
    put(folder / "corpus.jsonl.gz", *({"_id": f"d{i}", "text": f"def f{i}(): pass"} for i in range(4)))
    put(folder / "queries.jsonl.gz", *({"_id": f"q{i}", "text": f"question {i}"} for i in range(3)))
    put(folder / "queries-summary.jsonl", *({"_id": f"q{i}", "text": f"short {i}"} for i in range(3)))
    (folder / "qrels").mkdir()
    qrels(folder, "q0\td0\t1", "q0\td3\t0", "q1\td1\t1")
    return folder


def qrels(folder, *lines, name="test"):
    (folder / "qrels" / f"{name}.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *lines]) + "\n")


def test_every_file_of_queries_is_a_set_and_zeros_stay(beir):
    long, short = load_datasets(beir)
    assert (long.name, short.name) == ("doors", "doors/summary")
    assert (long.level, long.metric, long.root, long.strip_docs) == ("symbol", "mrr@100", beir, False)
    assert [case.query for case in short.cases] == ["short 0", "short 1"]  # nobody judged q2
    assert long.cases[0].symbols == {"d0": 1, "d3": 0}
    assert set(long.files) == {beir / "queries.jsonl.gz", beir / "qrels/test.tsv"}


def test_the_test_split_counts_else_all_there_are(beir):
    qrels(beir, "q2\td2\t1", name="dev")
    assert [case.id for case in load_datasets(beir, queries="queries")[0].cases] == ["q0", "q1"]
    (beir / "qrels/test.tsv").unlink()
    assert [case.id for case in load_datasets(beir, queries="queries")[0].cases] == ["q2"]
    (beir / "qrels/dev.tsv").unlink()
    with pytest.raises(EvalError, match=r"no judgements; put them into qrels/test\.tsv"):
        load_datasets(beir)


@pytest.mark.parametrize("line", ["q0 d0 1", "q0\td0", "q0\td0\thigh", "q0\td0\t-1", "q0\td0\tnan"])
def test_bad_judgements_are_told_with_their_line(beir, line):
    qrels(beir, "q0\td0\t1", line)
    with pytest.raises(EvalError, match=r"test\.tsv:3: "):
        load_datasets(beir)


@pytest.mark.parametrize("name", ["py.jsonl", "py.jsonl.gz"])
def test_documentation_of_functions_asks_for_them(tmp_path, name):
    place = put(tmp_path / name, CSN, HUB, {**CSN, "url": "u", "docstring": " "})
    (found,) = load_datasets(place)
    assert (found.name, found.level, found.metric, found.root) == ("py", "symbol", "mrr@100", place)
    assert found.strip_docs
    assert [(case.query, list(case.symbols)) for case in found.cases] == [
        ("Doc.", [CSN["url"]]),
        ("Open the door.", [HUB["func_code_url"]]),
    ]
    assert not load_datasets(place, strip_docs=False)[0].strip_docs


@pytest.fixture
def suite(tmp_path):
    """A suite of two repositories, one written like our own cases, and a checkout of each."""
    folder = tmp_path / "suite"
    folder.mkdir()
    listed = [{"name": "one", "benchmark_root": "src/one", "url": "U", "revision": "R"}, {"name": "two"}]
    (folder / "repos.json").write_text(json.dumps(listed))
    span = {"path": "b.py", "start_line": 3, "end_line": 9}
    row = {"id": "one-0", "query": "how", "relevant": ["src/one/a.py"], "secondary": [span]}
    put(folder / "cases/one.jsonl", row)
    put(folder / "cases/two.jsonl.gz", {"query": "which", "relevant_symbols": ["C.f"]})
    (tmp_path / "checkouts/one/src/one").mkdir(parents=True)
    (tmp_path / "checkouts/two").mkdir()
    return folder


def test_a_suite_is_a_set_for_each_repository(suite):
    checkouts = suite.parent / "checkouts"
    one, two = load_datasets(suite, checkouts=checkouts)
    assert (one.name, one.root, one.counting) == ("suite/one", checkouts / "one/src/one", "results")
    assert (one.level, one.metric) == ("file", "ndcg@10")
    assert one.cases[0].files == {"src/one/a.py": 1, "b.py#3-9": 1}
    assert one.cases[0].id == "one-0"
    assert (two.name, two.root, two.level) == ("suite/two", checkouts / "two", "symbol")
    assert two.files == (suite / "cases/two.jsonl.gz",)
    assert load_datasets(suite, queries="two", name="my")[0].name == "my/two"
    assert load_datasets(suite)[0].root is None


def test_a_suite_with_something_missing(suite):
    with pytest.raises(EvalError, match=r"missing: one, two\); get it with `git clone U .*one checkout R`"):
        load_datasets(suite, checkouts=suite / "nowhere")
    with pytest.raises(EvalError, match="there are: one, two"):
        load_datasets(suite, queries="three")
    (suite / "cases/one.jsonl").unlink()
    with pytest.raises(EvalError, match=r"no questions about one; write cases/one\.jsonl"):
        load_datasets(suite)
    (suite / "repos.json").write_text('[{"nam": "one"}]')
    with pytest.raises(EvalError, match=r'repos\.json: .*"name"'):
        load_datasets(suite)


def test_cases_take_the_level_that_was_judged(tmp_path):
    place = tmp_path / "mine.jsonl"
    write_cases(place, [Case("a", {"a.py": 1}, {"f": 1}), Case("b", symbols={"g": 1})])
    (files,) = load_datasets(place, root=tmp_path)
    (symbols,) = load_datasets(place, level="symbol")
    assert (files.name, files.level, files.metric, files.root) == ("mine", "file", "ndcg@10", tmp_path)
    assert (symbols.level, symbols.metric, symbols.files) == ("symbol", "mrr@100", (place,))
    write_cases(place, [Case("b", symbols={"g": 3, "h": 1})])
    (graded,) = load_datasets(place)
    assert (graded.level, graded.metric) == ("symbol", "ndcg@10")
    with pytest.raises(EvalError, match="no answers at file level"):
        load_datasets(place, level="file")
    with pytest.raises(EvalError, match="one of file, symbol"):
        load_datasets(place, level="line")


def test_cases_out_of_documentation_want_it_out_of_the_index(tmp_path):
    place = tmp_path / "docs.jsonl"
    write_cases(place, [Case("a", {"a.py": 1}), Case("b", {"b.py": 1}, source="docs")])
    assert load_datasets(place)[0].strip_docs
    assert not load_datasets(place, strip_docs=False)[0].strip_docs
    write_cases(place, [Case("a", {"a.py": 1}, source="git")])
    assert not load_datasets(place)[0].strip_docs
    assert load_datasets(place, strip_docs=True)[0].strip_docs


def test_halves_are_fixed_disjoint_and_whole(tmp_path):
    place = tmp_path / "mine.jsonl"
    write_cases(place, [Case(f"question {i}", {"a.py": 1}) for i in range(60)])
    (whole,), (tune,), (report,) = (load_datasets(place, half=half) for half in ("all", "tune", "report"))
    assert sorted([*tune.cases, *report.cases], key=lambda case: case.id) == sorted(
        whole.cases, key=lambda case: case.id
    )
    assert {half_of(case.id) for case in tune.cases} == {"tune"}
    assert (tune.half, report.half, whole.half) == ("tune", "report", "all")
    assert min(len(tune.cases), len(report.cases)) > 15
    with pytest.raises(EvalError, match="one of all, tune, report"):
        load_datasets(place, half="other")


def test_what_is_no_set_is_told_what_sets_are(tmp_path):
    with pytest.raises(EvalError, match="does not exist"):
        load_datasets(tmp_path / "none")
    (tmp_path / "a.py").write_text("x = 1\n")
    for place in (tmp_path, tmp_path / "a.py", put(tmp_path / "x.jsonl", {"name": "neither"})):
        with pytest.raises(EvalError, match=r"BEIR folder .*\(repos\.json"):
            load_datasets(place)
    with pytest.raises(EvalError, match=r"y\.jsonl:1: no answer"):
        load_datasets(put(tmp_path / "y.jsonl", {"query": "q"}))
    with pytest.raises(EvalError, match="is one set"):
        load_datasets(put(tmp_path / "z.jsonl", {"query": "q", "relevant_files": ["a"]}), queries="other")
