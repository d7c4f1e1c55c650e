"""Averages over sets: every set counts the same, however many questions it has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dowse.eval.reports.model import MEAN
from dowse.eval.stats import bootstrap_macro
from dowse.eval.types import Interval, Result


def mean_results(results: Sequence[Result]) -> Result:
    """Return the macro average of one way of searching over several sets.

    Metrics that a set does not have are left out; times are those of a mean set.
    """
    if not results:
        raise ValueError("there is nothing to average")
    shared = [name for name in results[0].metrics if all(name in each.metrics for each in results)]
    groups = {name: [each.values(name) for each in results if each.cases] for name in shared}
    return Result(
        mode=MEAN + results[0].mode,
        dataset=f"{len(results)} sets",
        level=results[0].level if len({each.level for each in results}) == 1 else "mixed",
        metrics={name: _mean(each.metrics[name] for each in results) for name in shared},
        intervals={
            name: Interval(*bootstrap_macro(found))
            for name, found in groups.items()
            if len(found) == len(results)
        },
        latency={
            name: _mean(each.latency[name] for each in results)
            for name in results[0].latency
            if all(name in each.latency for each in results)
        },
    )


def aggregate_by_mode(results: Mapping[str, Sequence[Result]] | Iterable[Result]) -> dict[str, Result]:
    """Return `mean:MODE` for every way of searching that was run on all sets.

    Args:
        results: The rows of each set by its name, or all rows one after another.
    """
    rows = [row for rows in results.values() for row in rows] if isinstance(results, Mapping) else results
    by_mode: dict[str, list[Result]] = {}
    for row in rows:
        by_mode.setdefault(row.mode, []).append(row)
    most = max(map(len, by_mode.values()), default=0)
    return {MEAN + mode: mean_results(rows) for mode, rows in by_mode.items() if len(rows) == most}


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
