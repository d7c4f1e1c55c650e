"""Any callable can be scored: what it is asked, what is made of its answers, and what a row says."""

from __future__ import annotations

import pytest

from dowse import Index
from dowse.errors import EvalError
from dowse.eval.evaluate import evaluate
from dowse.eval.metrics import score
from dowse.eval.stats import bootstrap
from dowse.eval.types import Case, Dataset, Search, SearchResult

CASES = (
    Case("first", {"a.py": 1}, id="1"),
    Case("second", {"b.py": 1, "c.py": 1}, id="2"),
)


def answering(**answers: list[object]) -> Search:
    """Return a tool that knows some answers."""
    return lambda query, k: answers.get(query, [])


def test_a_row_says_what_was_found_and_how_well() -> None:
    row = evaluate(answering(first=["x.py", "a.py"], second=["b.py", "x.py", "c.py"]), CASES, name="mine")
    assert (row.mode, row.dataset, row.level) == ("mine", "", "file")
    assert row.metrics["mrr@100"] == (1 / 2 + 1) / 2
    assert row.values("mrr@100") == [0.5, 1]
    assert row.metrics["recall@1"] == (0 + 1 / 2) / 2
    assert [case.id for case in row.cases] == ["1", "2"]
    assert row.cases[0].found == ("x.py", "a.py")
    assert row.cases[1].relevant == ("b.py", "c.py")
    assert row.cases[1].values == score(["b.py", "-", "c.py"], CASES[1].files, (1, 5, 10))
    for metric, interval in row.intervals.items():
        assert interval == bootstrap(row.values(metric))
    assert list(row.metrics) == list(row.intervals) == list(row.cases[0].values)


def test_the_tool_is_asked_each_question_once_for_as_many_as_needed() -> None:
    asked = []

    def search(query: str, k: int) -> list[object]:
        asked.append((query, k))
        return []

    evaluate(search, CASES)
    assert asked == [("first", 100), ("second", 100)]
    asked.clear()
    evaluate(search, CASES[:1], depth=20, ks=(5, 50))  # a cut at 50 needs 50
    assert asked == [("first", 50)]


def test_hits_paths_and_found_are_scored_alike(sample_index: Index) -> None:
    def as_paths(query: str, k: int) -> list[object]:
        return [hit.symbol.path for hit in sample_index.search(query, k=k)]

    def as_founds(query: str, k: int) -> list[object]:
        return [SearchResult(hit.symbol.path) for hit in sample_index.search(query, k=k)]

    hits = sample_index.search("bread", k=100).hits
    last = list(dict.fromkeys(hit.symbol.path for hit in hits))[-1]
    cases = [Case("bread", {last: 1}, id="1")]
    rows = [evaluate(search, cases) for search in (sample_index.search, as_paths, as_founds)]
    assert rows[0].metrics["mrr@100"] == 1 / len({hit.symbol.path for hit in hits}) > 0
    assert all(row.metrics == rows[0].metrics for row in rows)
    assert len({row.cases[0].found for row in rows}) == 1


def test_grades_bring_the_metrics_of_few_judgements() -> None:
    qrels = Case("first", {"a.py": 1, "x.py": 0}, id="1")
    found = answering(first=["unknown.py", "x.py", "a.py"])
    row = evaluate(found, [qrels, CASES[1]])
    assert row.cases[0].values["judged@10"] == 2 / 3
    assert row.cases[0].values["condensed_ndcg@10"] > row.cases[0].values["ndcg@10"]
    assert row.cases[0].relevant == ("a.py",)
    assert row.cases[1].values["judged@10"] == 0
    assert "judged@10" not in evaluate(found, CASES).metrics


def test_cases_without_an_answer_at_the_level_are_left_out() -> None:
    done: list[int] = []
    cases = [Case("none"), Case("zero", {"a.py": 0}), Case("symbol", symbols={"f": 1}), *CASES]
    row = evaluate(answering(), iter(cases), on_case=done.append)
    assert [case.query for case in row.cases] == ["first", "second"]
    assert done == [1, 2]


def test_no_case_at_the_level_is_an_error_that_names_the_other() -> None:
    with pytest.raises(EvalError, match="'symbol'"):
        evaluate(answering(), [Case("q", symbols={"f": 1})])
    with pytest.raises(EvalError, match="of mine has a relevant symbol; try level 'file'"):
        evaluate(answering(), Dataset("mine", CASES), level="symbol")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": "files"}, "the level is one of file, symbol, not 'files'"),
        ({"ks": ()}, "can't be cut at"),
        ({"ks": (0, 5)}, "can't be cut at"),
    ],
)
def test_choices_that_make_no_sense_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(EvalError, match=message):
        evaluate(answering(), CASES, **options)
    with pytest.raises(EvalError, match="counting"):
        evaluate(answering(), Dataset("d", CASES, counting="files"))


def test_files_of_symbols_count_where_no_files_are_named() -> None:
    case = Case("q", symbols={"a.py::f": 1.0, "a.py::g": 3.0, "b.py::h": 0.0, "bare": 2.0})
    assert case.qrels("file") == {"a.py": 3.0, "b.py": 0.0}
    assert Case("q", files={"c.py": 1.0}, symbols={"a.py::f": 1.0}).qrels("file") == {"c.py": 1.0}
    row = evaluate(lambda query, k: ["a.py"], [case], level="file")
    assert row.metrics["hit@1"] == 1.0
