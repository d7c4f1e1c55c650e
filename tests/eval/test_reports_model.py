"""Which row is best, which questions are worst, and how rows compare."""

from __future__ import annotations

from dataclasses import replace

from dowse.eval.reports.aggregate import differences, paired
from dowse.eval.reports.json_form import from_json, to_json
from dowse.eval.reports.model import Report, SetFacts
from dowse.eval.reports.tables import mean_table, set_table
from dowse.eval.types import Case, Dataset
from eval.report_samples import dataset, report, set_report, small_report


def test_facts_count_only_questions_that_have_an_answer_at_their_level() -> None:
    cases = (Case("a", files={"a.py": 1.0}), Case("b", files={"b.py": 0.0}), Case("c", symbols={"c": 3.0}))
    facts = SetFacts.of(Dataset("x", cases, half="tune"), {"files": 3})
    assert (facts.cases, facts.graded, facts.half, facts.index) == (1, False, "tune", {"files": 3})
    assert SetFacts.of(Dataset("x", cases, level="symbol")).graded


def test_best_is_the_highest_headline_and_the_first_of_equals() -> None:
    each = set_report(dataset("x", 3), {"a": [1, 2, 3], "b": [1, 1, 1], "c": [1, 1, 1]})
    assert each.best is not None and each.best.mode == "b"
    assert [row.best for row in set_table(each).rows] == [False, True, False]


def test_of_equals_the_one_compared_with_is_best() -> None:
    each = set_report(dataset("x", 8), {"a": [1] * 8, "b": [1] * 8, "c": [2] * 8}, "b")
    assert each.best is not None and each.best.mode == "b"
    table = set_table(each)
    assert [row.best for row in table.rows] == [False, True, False]
    assert (table.standing, table.ties, table.other_ties) == ("best", ("a",), ("a",))
    means = mean_table(report(each, each))
    assert means is not None and means.best is not None
    assert (means.best.mode, means.standing, means.other_ties) == ("mean:b", "best", ("mean:a",))


def test_what_can_not_be_told_from_the_row_compared_with_is_not_called_best() -> None:
    rows = {"a": [1, 2, 1, 2, 1, 2, 1, 2], "b": [1, 1, 1, 2, 1, 2, 1, 2], "c": [0] * 8}
    table = set_table(set_report(dataset("x", 8), rows, "a"))
    assert table.best is not None and table.best.mode == "b"
    assert (table.standing, table.ties, table.other_ties) == ("highest", ("a",), ())
    clear = set_table(small_report().sets[0])
    assert (clear.standing, clear.ties) == ("best", ())


def test_few_questions_are_remarked_on() -> None:
    few = set_table(set_report(dataset("x", 5), {"a": [1] * 5, "b": [2] * 5}))
    assert few.remarks == (
        "too few questions to tell (5): under 6 nothing is real, and intervals mean little",
    )
    assert set_table(set_report(dataset("x", 6), {"a": [1] * 6})).remarks == ()


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


def test_the_first_row_is_compared_with_unless_another_is_named() -> None:
    each = set_report(dataset("x", 3), {"a": [1, 2, 3], "b": [1, 1, 1]})
    assert each.baseline is not None and each.baseline.mode == "a"
    assert set(differences([each], "a")) == {"b"}
    assert set(differences([each], "b")) == {"a"}
    assert replace(each, against="gone").baseline is None
    assert differences([each], "gone") == {}


def test_worst_questions_come_lowest_first_then_by_id_and_leave_out_perfect_ones() -> None:
    each = set_report(dataset("x", 5), {"a": [0, 2, 1, 0, 4]})
    # Two answers each, of which only one is ever found: none is perfect.
    assert [case.id for case in each.worst("a", 9)] == ["x-00", "x-03", "x-04", "x-01", "x-02"]
    assert [case.id for case in each.worst("a", 2)] == ["x-00", "x-03"]
    assert each.worst("gone", 2) == []
    data = Dataset("y", tuple(Case(f"src/{i}.py ?", {f"src/{i}.py": 1.0}, id=str(i)) for i in range(2)))
    assert [case.id for case in set_report(data, {"a": [1, 2]}).worst("a", 9)] == ["1"]


def test_a_clear_gain_is_real_and_a_single_change_is_noise() -> None:
    found = differences(small_report().sets[:1], small_report().against)
    assert found["good"].real and found["good"].mean > 0.1
    assert not found["odd"].real and found["odd"].mean > 0


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
    table = mean_table(mixed)
    assert table is not None and table.best is not None
    assert (table.metric, table.best.mode, table.best.value) == ("headline", "mean:good", expected)
    assert table.best.interval is not None
    assert table.best.interval.low < expected < table.best.interval.high


def test_a_mode_that_was_left_out_of_a_set_has_no_mean_and_no_difference() -> None:
    one = set_report(dataset("one", 3), {"a": [1, 2, 3], "b": [1, 1, 1]})
    two = set_report(dataset("two", 3), {"a": [1, 2, 3]})
    whole = report(one, two)
    assert whole.headline("b") is None
    assert differences(whole.sets, whole.against) == {}
    assert [row.mode for row in whole.means] == ["mean:a"]


def test_hit_has_columns_of_its_own_only_where_it_differs_from_recall() -> None:
    two_answers = set_table(set_report(dataset("x", 3), {"a": [1, 2, 3]}))
    assert "hit at" in [group.title for group in two_answers.groups]
    single = Dataset("y", tuple(Case(f"src/{i}.py ?", {f"src/{i}.py": 1.0}, id=str(i)) for i in range(3)))
    one_answer = set_table(set_report(single, {"a": [1, 2, 3]}))
    assert "hit at" not in [group.title for group in one_answer.groups]
    assert "hit equals recall" in one_answer.notes
