"""Averages over sets: each counts the same, and nothing is averaged that a set does not have."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.eval import Case, Result, aggregate_by_mode, evaluate, mean_results
from dowse.eval.reports.json_form import from_json, to_json
from dowse.eval.types import Dataset
from eval.report_samples import dataset, small_report, tool


def row(name: str, ranks: list[int], mode: str = "a", **more: object) -> Result:
    """Return a row of a tool that finds answers at these ranks."""
    data = replace(dataset(name, len(ranks)), **more)
    return evaluate(tool(ranks), data, name=mode)


@given(st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=5), min_size=1, max_size=4))
def test_a_mean_is_that_of_the_tables_however_large_they_are(groups: list[list[int]]) -> None:
    rows = [row(f"set{i}", ranks) for i, ranks in enumerate(groups)]
    mean = mean_results(rows)
    assert mean.mode == "mean:a"
    for metric, value in mean.metrics.items():
        assert value == pytest.approx(fmean(each.metrics[metric] for each in rows))
        low, high = mean.intervals[metric]
        assert low - 1e-9 <= value <= high + 1e-9
    assert mean.latency["p50_ms"] == pytest.approx(fmean(each.latency["p50_ms"] for each in rows))


def test_metrics_that_a_set_lacks_are_left_out() -> None:
    few = evaluate(tool([1, 2]), dataset("few", 2), ks=(3,), name="a")
    mean = mean_results([row("x", [1, 0]), few])
    assert set(mean.metrics) == {"mrr@100"}
    assert set(mean.intervals) == {"mrr@100"}


def test_levels() -> None:
    cases = (Case("q", files={"a.py": 1.0}, symbols={"a.py::f": 1.0}),)
    at = {
        level: evaluate(lambda q, k: ["a.py::f"], Dataset(level, cases, level), name="a")
        for level in ("file", "symbol")
    }
    assert mean_results([at["file"]]).level == "file"
    assert mean_results(list(at.values())).level == "mixed"


def test_nothing_has_no_mean() -> None:
    with pytest.raises(ValueError, match="at least one row"):
        mean_results([])
    assert aggregate_by_mode([]) == {}
    assert aggregate_by_mode({}) == {}


def test_modes_that_were_run_on_all_sets_have_a_mean() -> None:
    rows = {
        "x": [row("x", [1], "auto"), row("x", [2], "keyword"), row("x", [0], "graph")],
        "y": [row("y", [1], "auto"), row("y", [4], "keyword")],
    }
    one_after_another = [each for group in rows.values() for each in group]
    for found in (aggregate_by_mode(rows), aggregate_by_mode(one_after_another)):
        assert list(found) == ["mean:auto", "mean:keyword"]
        assert found["mean:keyword"].metrics["mrr@100"] == pytest.approx((1 / 2 + 1 / 4) / 2)


def test_a_mode_of_one_set_is_no_mean_even_where_none_is_on_all() -> None:
    assert aggregate_by_mode([row("x", [1], "a"), row("y", [1], "b")]) == {}
    assert aggregate_by_mode({"x": [row("x", [1], "a")], "y": [row("y", [1], "b")]}) == {}


def test_sets_without_a_name_are_told_apart_by_their_rows() -> None:
    found = aggregate_by_mode([row("", [1]), row("", [2]), row("", [1], "b")])
    assert list(found) == ["mean:a"]


def test_rows_of_a_saved_report_have_means_as_far_as_they_are_told() -> None:
    whole = small_report()
    saved = from_json(to_json(whole))
    found = aggregate_by_mode(each for one in saved.sets for each in one.results)
    assert list(found) == [each.mode for each in whole.means]
    for before in whole.means:
        after = found[before.mode]
        assert after.metrics == pytest.approx(before.metrics, abs=1e-5)
        assert {"mrr@100", "ndcg@10", "recall@10"} == set(after.intervals)
        for metric, (low, high) in after.intervals.items():
            assert (low, high) == pytest.approx(before.intervals[metric], abs=1e-5)
