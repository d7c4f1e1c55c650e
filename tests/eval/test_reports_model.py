"""Which row is best, which questions are worst, and how rows compare."""

from __future__ import annotations

from dataclasses import replace

from dowse.eval.reports.aggregate import differences, paired
from dowse.eval.reports.json_form import from_json, to_json
from dowse.eval.reports.model import Report, SetFacts
from dowse.eval.reports.text import render_text
from dowse.eval.types import Case, Dataset
from eval.report_samples import dataset, report, set_report, small_report


def test_facts_count_only_questions_that_have_an_answer_at_their_level() -> None:
    cases = (Case("a", files={"a.py": 1.0}), Case("b", files={"b.py": 0.0}), Case("c", symbols={"c": 3.0}))
    facts = SetFacts.of(Dataset("x", cases, half="tune"), {"files": 3})
    assert (facts.cases, facts.graded, facts.half, facts.index) == (1, False, "tune", {"files": 3})
    assert SetFacts.of(Dataset("x", cases, level="symbol")).graded


def test_of_equals_the_one_compared_with_is_best() -> None:
    each = set_report(dataset("x", 8), {"a": [1] * 8, "b": [1] * 8, "c": [2] * 8}, "b")
    assert each.best is not None and each.best.mode == "b"
    marked = [line.split()[:2] for line in render_text(report(each, each)).splitlines() if line[:1] == "*"]
    assert {tuple(words) for words in marked} == {("*=", "b"), ("*=", "mean:b")}


def test_the_worst_are_told_of_the_row_named_to_compare_with_else_of_the_best() -> None:
    rows = {"a": [1, 2, 3], "b": [1, 1, 1]}
    told = {against: set_report(dataset("x", 3), rows, against).detailed_mode for against in ("a", "b", "")}
    assert told == {
        "a": "a",
        "b": "b",
        "": "b",
    }


def test_of_equally_bad_questions_those_come_first_that_another_row_answered_well() -> None:
    each = set_report(dataset("x", 4), {"a": [0, 0, 0, 1], "b": [0, 3, 1, 0], "c": [0, 0, 5, 0]})
    assert [case.id for case in each.worst("a", 9)] == ["x-02", "x-01", "x-00", "x-03"]
    again = from_json(to_json(report(each))).sets[0]
    assert again.detailed_mode == each.detailed_mode != ""
    assert [c.id for c in again.worst(again.detailed_mode, 9)] == [
        c.id for c in each.worst(each.detailed_mode, 9)
    ]


def test_rows_asked_other_questions_are_paired_by_id() -> None:
    each = set_report(dataset("x", 4), {"a": [1, 2, 3, 4], "b": [4, 3, 2, 1]})
    one, other = each.results
    fewer = replace(other, cases=tuple(reversed(other.cases[1:])))
    ours, theirs = paired(one, fewer, "mrr@100")
    assert (ours, theirs) == ([1 / 2, 1 / 3, 1 / 4], [1 / 3, 1 / 2, 1.0])


def test_means_use_the_headline_of_each_set() -> None:
    whole = small_report()
    one, two = whole.sets
    mixed = Report({}, (one, replace(two, dataset=replace(two.dataset, metric="mrr@100"))), whole.means)
    rows = [each.row("good") for each in mixed.sets]
    assert rows[0] is not None and rows[1] is not None
    expected = (rows[0].metrics["ndcg@10"] + rows[1].metrics["mrr@100"]) / 2
    assert mixed.headline("good") == expected
    text = render_text(mixed)
    best = next(line.split() for line in text.splitlines() if line.startswith("*  mean:"))
    low, high = best[3].split("–")
    assert best[1:3] == ["mean:good", f"{expected:.3f}".lstrip("0")] and float(low) < expected < float(high)
    assert "headline" in text


def test_a_mode_that_was_left_out_of_a_set_has_no_mean_and_no_difference() -> None:
    one = set_report(dataset("one", 3), {"a": [1, 2, 3], "b": [1, 1, 1]})
    two = set_report(dataset("two", 3), {"a": [1, 2, 3]})
    whole = report(one, two)
    assert whole.headline("b") is None
    assert differences(whole.sets, whole.against) == {}
    assert [row.mode for row in whole.means] == ["mean:a"]
