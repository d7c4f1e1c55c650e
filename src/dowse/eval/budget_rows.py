"""The rows of an evaluation by budget: what answers are measured by, and what they are compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from dowse.eval.budget import BudgetMetrics, budget_of
from dowse.eval.budget_pages import IndexTexts
from dowse.eval.systems.ripgrep_reading import LISTED, WHOLE, WINDOW
from dowse.eval.types import Dataset, Result
from dowse.index import Index

# What others are compared with: ripgrep, and an agent that reads what it points at.
READING_BASELINES = (WHOLE, WINDOW)


def budget_metrics(
    index: Index, dataset: Dataset, budgets: Sequence[int]
) -> tuple[BudgetMetrics, BudgetMetrics]:
    """Return how answers are measured that show code, and those that name files to be read."""
    library = IndexTexts(index)
    usual = BudgetMetrics(budgets, library.code(dataset), library.show)
    return usual, replace(usual, show=partial(library.show, listed=LISTED))


def budget_metrics_only(row: Result) -> Result:
    """Return a row without what says nothing about a tool that ranks no answers: places of results."""
    cases = tuple(replace(case, values=_shares(case.values)) for case in row.cases)
    intervals = {name: ends for name, ends in row.intervals.items() if budget_of(name)}
    return replace(row, metrics=_shares(row.metrics), intervals=intervals, cases=cases)


def _shares(values: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in values.items() if budget_of(name)}
