"""Averages over sets: each counts the same, and nothing is averaged that a set does not have."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.eval import Result, aggregate_by_mode, evaluate, mean_results
from eval.report_samples import dataset, tool


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


def test_modes_that_were_run_on_all_sets_have_a_mean() -> None:
    rows = {
        "x": [row("x", [1], "auto"), row("x", [2], "keyword"), row("x", [0], "graph")],
        "y": [row("y", [1], "auto"), row("y", [4], "keyword")],
    }
    one_after_another = [each for group in rows.values() for each in group]
    for found in (aggregate_by_mode(rows), aggregate_by_mode(one_after_another)):
        assert list(found) == ["mean:auto", "mean:keyword"]
        assert found["mean:keyword"].metrics["mrr@100"] == pytest.approx((1 / 2 + 1 / 4) / 2)
