"""Any callable can be scored: what it is asked, what is made of its answers, and what a row says."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

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


def test_a_row_offers_its_figures_by_name_and_as_plain_data() -> None:
    row = evaluate(answering(first=["x.py", "a.py"], second=["b.py"]), CASES, name="mine")
    assert (row.label, row.mrr, row.recall, row.ndcg) == (
        *("mine", row.metrics["mrr@100"], row.metrics["recall@10"], row.metrics["ndcg@10"]),
    )
    data = json.loads(json.dumps(row.as_dict()))
    assert (data["label"], data["level"], data["metrics"]) == ("mine", "file", dict(row.metrics))
    assert data["intervals"]["mrr@100"] == list(row.intervals["mrr@100"]) and "cases" not in data
    with pytest.raises(EvalError, match="recall@10 was not measured; there are mrr@100"):
        _ = evaluate(answering(), CASES, ks=(5,)).recall


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


def test_a_generator_is_read_no_deeper_than_asked() -> None:
    taken = []

    def search(query: str, k: int) -> Iterator[str]:
        for number in itertools.count():
            taken.append(number)
            yield f"{number}.py"

    row = evaluate(search, [Case("q", {"9.py": 1}), Case("r", {"10.py": 1})], depth=10)
    assert row.values("mrr@100") == [1 / 10, 0]
    assert taken == [*range(10), *range(10)]


def test_time_spent_in_a_generator_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.perf_counter", lambda: now)

    def search(query: str, k: int) -> Iterator[str]:
        nonlocal now
        for number in range(3):
            now += 2
            yield f"{number}.py"

    row = evaluate(search, CASES)
    assert [case.seconds for case in row.cases] == [6, 6]
    assert row.latency == {"p50_ms": 6000, "p95_ms": 6000, "p99_ms": 6000}


def test_hits_paths_mappings_and_found_are_scored_alike(sample_index: Index) -> None:
    def as_paths(query: str, k: int) -> list[object]:
        return [hit.symbol.path for hit in sample_index.search(query, k=k)]

    def as_mappings(query: str, k: int) -> list[object]:
        return [{"path": hit.symbol.path, "score": hit.score} for hit in sample_index.search(query, k=k)]

    def as_founds(query: str, k: int) -> list[object]:
        return [SearchResult(hit.symbol.path) for hit in sample_index.search(query, k=k)]

    hits = sample_index.search("bread", k=100).hits
    last = list(dict.fromkeys(hit.symbol.path for hit in hits))[-1]
    cases = [Case("bread", {last: 1}, id="1")]
    rows = [evaluate(search, cases) for search in (sample_index.search, as_paths, as_mappings, as_founds)]
    assert rows[0].metrics["mrr@100"] == 1 / len({hit.symbol.path for hit in hits}) > 0
    assert all(row.metrics == rows[0].metrics for row in rows)
    assert len({row.cases[0].found for row in rows}) == 1


def test_symbols_of_hits(sample_index: Index) -> None:
    hit = sample_index.search("bread", k=2).hits[1].symbol
    cases = [Case("bread", symbols={f"{hit.path}::{hit.qualified_name}": 1})]
    assert evaluate(sample_index.search, cases, level="symbol").metrics["mrr@100"] == 1 / 2
    by_id = Dataset("d", (Case("bread", symbols={hit.id: 1}),), level="symbol")
    assert evaluate(sample_index.search, by_id).metrics["mrr@100"] == 1 / 2


def test_the_dataset_says_how_places_count() -> None:
    search = answering(
        first=[SearchResult("x.py", "f"), SearchResult("x.py", "g"), SearchResult("a.py", "f")]
    )
    by_file = evaluate(search, Dataset("d", CASES[:1]))
    by_result = evaluate(search, Dataset("d", CASES[:1], counting="results"))
    assert (by_file.metrics["mrr@100"], by_result.metrics["mrr@100"]) == (1 / 2, 1 / 3)
    assert by_file.cases[0].found == by_result.cases[0].found == ("x.py", "a.py")


def test_duplicates_never_lift_a_metric_over_1() -> None:
    for counting in ("distinct", "results"):
        row = evaluate(answering(first=["a.py"] * 10), Dataset("d", CASES[:1], counting=counting))
        assert row.metrics["recall@10"] == row.metrics["ndcg@10"] == 1
        assert row.metrics["precision@10"] == 0.1


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


def test_no_cases_give_an_empty_row() -> None:
    row = evaluate(answering(), [], name="mine")
    assert (row.metrics, row.intervals, row.latency, row.cases) == ({}, {}, {}, ())


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


def test_a_tool_that_returns_nonsense_is_told_so() -> None:
    with pytest.raises(TypeError, match="a search gave"):
        evaluate(answering(first=[("a.py", 0.3)]), CASES)
    with pytest.raises(TypeError, match="'12' as start_line"):
        evaluate(answering(first=[{"path": "a.py", "start_line": "12"}]), CASES)


def test_files_of_symbols_count_where_no_files_are_named() -> None:
    case = Case("q", symbols={"a.py::f": 1.0, "a.py::g": 3.0, "b.py::h": 0.0, "bare": 2.0})
    assert case.qrels("file") == {"a.py": 3.0, "b.py": 0.0}
    assert Case("q", files={"c.py": 1.0}, symbols={"a.py::f": 1.0}).qrels("file") == {"c.py": 1.0}
    row = evaluate(lambda query, k: ["a.py"], [case], level="file")
    assert row.metrics["hit@1"] == 1.0


def test_what_is_left_out_is_told_with_the_reason() -> None:
    cases = (Case("a", {"a.py": 1.0}), Case("b", symbols={"bare": 1.0}), Case("c", {"c.py": 0.0}))
    told = "questions left out: 1 without an answer at file level, 1 of which nothing is judged relevant"
    assert Dataset("x", cases).exclusion_note == told
    assert Dataset("x", cases[:1]).exclusion_note == ""
