"""Running ways of searching: on an index apart, without answers, and the same whatever the encoder."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dowse import Index
from dowse.config import cache_folder
from dowse.errors import EvalError
from dowse.eval import Case, Dataset, load_datasets
from dowse.eval.clean_index import open_clean_index
from dowse.eval.configurations import COMPARED, parse_configuration
from dowse.eval.reports.model import SetReport
from dowse.eval.run import Progress, RunOptions, run_dataset, search_root
from dowse.eval.systems import named_system
from eval.git_repo import GitRepo
from eval.small_tree import QUESTIONS, make_corpus, make_tree, write_questions

from helpers import contents, image, write_tree


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small tree, for reading only: its index is made once."""
    return make_tree(tmp_path_factory.mktemp("shared") / "tree")


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory, tree: Path) -> Dataset:
    return load_datasets(write_questions(tmp_path_factory.mktemp("q") / "cases.jsonl"), root=tree)[0]


def running(*names: str, encoder: str = "none", **more: object) -> RunOptions:
    ways = tuple(parse_configuration(name) for name in names or ("auto",))
    return replace(RunOptions(ways, settings=(("encoder", encoder),)), **more)


def values(report: SetReport, mode: str) -> list[dict[str, float]]:
    """Return what a row made of every question."""
    row = report.row(mode)
    assert row is not None
    return [dict(case.values) for case in row.cases]


def modes(report: SetReport) -> list[str]:
    return [row.mode for row in report.results]


# Rows


def test_a_row_for_every_way_in_the_order_asked_for(questions: Dataset) -> None:
    report = run_dataset(questions, None, running(*COMPARED, "rrf", encoder="small"))
    assert modes(report) == [*COMPARED, "rrf"]
    assert all(len(row.cases) == len(QUESTIONS) for row in report.results)
    assert report.dataset.index["left_out"] == ""
    keyword = report.row("keyword")
    assert keyword is not None and keyword.metrics["recall@10"] > 0.7


def test_what_needs_vectors_is_left_out_without_an_encoder_and_named(questions: Dataset) -> None:
    report = run_dataset(questions, None, running(*COMPARED))
    assert modes(report) == ["keyword", "graph", "auto"]
    assert report.dataset.index["left_out"] == "embedding, hybrid"


def test_graph_rows_are_left_out_on_a_corpus(tmp_path: Path) -> None:
    folder = make_corpus(tmp_path / "beir")
    (data, _) = load_datasets(folder)
    report = run_dataset(data, None, running(*COMPARED, "lanes", encoder="small"))
    assert modes(report) == ["keyword", "embedding", "hybrid", "auto"]
    assert report.dataset.index["left_out"] == "graph, lanes"
    assert report.dataset.index["corpus"] is True


@pytest.mark.parametrize("name", ["embedding", "keyword+mmr"])
def test_rows_of_which_none_can_be_run(questions: Dataset, name: str) -> None:
    with pytest.raises(EvalError, match=r"(embedding|mmr) can't be run on cases; .*--encoder"):
        run_dataset(questions, None, running(name))


def test_questions_are_words_and_no_query_language(tree: Path) -> None:
    case = Case('fix: "lang:go" (-order) /parse/', files={"shop/orders.py": 1.0}, id="1")
    report = run_dataset(Dataset("x", (case,), root=tree), None, running("keyword", "auto"))
    assert [row.metrics["hit@10"] for row in report.results] == [1.0, 1.0]


def test_other_tools_are_rows_too(questions: Dataset) -> None:
    report = run_dataset(questions, None, running("keyword", systems=(("fts5", named_system("fts5")),)))
    assert modes(report) == ["keyword", "fts5"]
    assert report.results[1].metrics["hit@10"] > 0


@pytest.mark.parametrize(
    ("query", "is_learnt"),
    [("rate limiting", False), ("fix the crash when a limit is empty", True), ("Limits fail. " * 30, True)],
)
def test_the_history_is_mined_only_for_requests_for_a_change(
    tree_copy: Path, query: str, is_learnt: bool
) -> None:
    GitRepo(tree_copy).commit("All of it", {})
    told: list[Progress] = []
    asked = Dataset("", (Case(query, files={"shop/orders.py": 1.0}),))
    run_dataset(asked, tree_copy, running("auto", encoder="small", on_progress=told.append))
    assert ("learning" in {each.doing for each in told}) is is_learnt


def test_facts_say_what_was_searched(questions: Dataset) -> None:
    facts = run_dataset(questions, None, running("keyword")).dataset
    assert (facts.name, facts.level, facts.cases, facts.strip_docs) == ("cases", "file", 8, False)
    assert facts.index["files"] == 4 and facts.index["encoder"] == "none"


# Diversity


def test_answers_put_apart_by_clusters_are_rows_too(questions: Dataset) -> None:
    names = ("keyword", "keyword+cluster", "keyword+sample:spectral", "keyword+cluster:meaning", "auto+mmr")
    report = run_dataset(questions, None, running(*names, encoder="small"))
    assert modes(report) == list(names)
    usual, *others = (row.cases for row in report.results[:4])
    for cases in others:
        assert [set(case.found) for case in cases] == [set(case.found) for case in usual]


# What is refused before anything is run


@pytest.mark.parametrize(
    ("change", "remedy"),
    [
        ({"root": None}, "name what to search"),
        ({"root": Path("nowhere/at/all")}, "check the path"),
        ({"cases": (), "half": "tune"}, "--half all"),
        ({"metric": "map"}, "ndcg@10"),
        ({"metric": "ndcg"}, "ndcg@10"),
        ({"metric": "mrr@10"}, "mrr@100"),
    ],
)
def test_what_can_not_be_run(questions: Dataset, change: dict[str, object], remedy: str) -> None:
    broken = replace(questions, **change)
    with pytest.raises(EvalError, match=remedy):
        search_root(broken)
    with pytest.raises(EvalError, match=remedy):
        run_dataset(broken, None, running())


# The index


def own_places() -> set[str]:
    return {path.name for path in (cache_folder() / "eval" / "indexes").glob("*")}


def test_the_users_own_index_is_never_touched(tree_copy: Path, questions: Dataset) -> None:
    own = Index.open(tree_copy, encoder="small")
    own.update()
    own.close()
    before = contents(own.backend.folder)
    (tree_copy / "new.py").write_text("def brand_new():\n    return 1\n")
    report = run_dataset(questions, tree_copy, running(*COMPARED, encoder="small"))
    assert report.dataset.index["files"] == 5
    assert contents(own.backend.folder) == before


def test_answers_in_the_tree_are_never_indexed_also_those_that_come_later(
    tree_copy: Path, tmp_path: Path
) -> None:
    inside = write_questions(tree_copy / "eval" / "questions.jsonl")
    (data,) = load_datasets(inside, root=tree_copy)
    clean = run_dataset(data, tree_copy, running("keyword"))
    places = own_places()
    before = image(open_clean_index(tree_copy, [data], settings={"encoder": "none"}))
    paths = {path for path, *_ in before["files"]}
    assert paths == {"shop/orders.py", "shop/oven.py", "shop/money.py", "web/cart.js"}
    leaks = {
        "out/report.json": json.dumps({"dowse_report": 1, "q": data.cases[0].query}),
        "out/details.jsonl": json.dumps({"query": data.cases[0].query, "found": [], "relevant": []}),
        "out/more.jsonl": json.dumps({"query": data.cases[0].query, "relevant_files": ["a"]}),
    }
    write_tree(tree_copy, leaks)
    again = run_dataset(data, tree_copy, running("keyword"))
    after = image(open_clean_index(tree_copy, [data], settings={"encoder": "none"}))
    assert after["files"] == before["files"] and after["symbols"] == before["symbols"]
    assert values(again, "keyword") == values(clean, "keyword")
    assert own_places() == places, "what is left out later must not make another index"


def test_an_index_that_is_named_is_made_once_and_refreshed_only_when_told(
    tree_copy: Path, questions: Dataset, tmp_path: Path
) -> None:
    place = str(tmp_path / "named")
    first = run_dataset(questions, tree_copy, running("keyword"), place, refresh=False)
    (tree_copy / "new.py").write_text("def order_text_read():\n    return 1\n")
    second = run_dataset(questions, tree_copy, running("keyword"), place, refresh=False)
    third = run_dataset(questions, tree_copy, running("keyword"), place, refresh=True)
    assert [each.dataset.index["files"] for each in (first, second, third)] == [4, 4, 5]
    with Index.open(tree_copy, index_dir=place) as index:
        assert index.contents.file_count() == 5


def test_a_named_index_with_answers_is_refused(tree_copy: Path, tmp_path: Path) -> None:
    inside = write_questions(tree_copy / "questions.jsonl")
    (data,) = load_datasets(inside, root=tree_copy)
    place = str(tmp_path / "named")
    with Index.open(tree_copy, index_dir=place) as index:
        index.update()
        assert "questions.jsonl" in {file.path for file in index.contents.files()}
    with pytest.raises(EvalError, match=r"questions\.jsonl; take it out with --index"):
        run_dataset(data, tree_copy, running("keyword"), place, refresh=False)
    run_dataset(data, tree_copy, running("keyword"), place, refresh=True)
    assert run_dataset(data, tree_copy, running("keyword"), place, refresh=False).results


def test_documentation_is_stripped_where_the_questions_are_made_of_it(
    tree: Path, questions: Dataset, tmp_path: Path
) -> None:
    stripped = replace(questions, strip_docs=True)
    report = run_dataset(stripped, tree, running("keyword"))
    assert report.dataset.strip_docs
    index = open_clean_index(tree, [stripped], settings={"encoder": "none"}, strip_docs=True)
    assert not any(doc for *_, doc, _ in image(index)["symbols"])
    with_docs = run_dataset(questions, tree, running("keyword"))
    assert with_docs.results[0].metrics["mrr@100"] > report.results[0].metrics["mrr@100"]
    place = str(tmp_path / "named")
    run_dataset(questions, tree, running("keyword"), place)
    with pytest.raises(EvalError, match=r"with documentation.*--index"):
        run_dataset(stripped, tree, running("keyword"), place, refresh=False)


# The library
