"""Macro averages over sets: every set counts the same, however many queries it has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dowse.eval.reports.model import MEAN, Report, SetReport
from dowse.eval.stats import bootstrap_macro
from dowse.eval.types import Interval, Result


def mean_results(results: Sequence[Result]) -> Result:
    """Return the macro average of one configuration over several sets.

    Metrics that a set does not have are left out; times are the means of the sets' own.
    """
    if not results:
        raise ValueError("there is nothing to average; pass at least one row")
    levels = {each.level for each in results}
    metrics = _means([each.metrics for each in results])
    return Result(
        mode=MEAN + results[0].mode,
        dataset=f"{len(results)} sets",
        level=levels.pop() if len(levels) == 1 else "mixed",
        metrics=metrics,
        intervals={name: found for name in metrics if (found := _interval(name, results))},
        latency=_means([each.latency for each in results]),
    )


def aggregate_by_mode(results: Mapping[str, Sequence[Result]] | Iterable[Result]) -> dict[str, Result]:
    """Return `mean:MODE` for every configuration that was run on all sets.

    Args:
        results: The rows of each set by its name, or all rows one after another.
    """
    if isinstance(results, Mapping):
        rows, sets = [row for rows in results.values() for row in rows], len(results)
    else:
        rows = list(results)
        sets = len({(row.dataset, row.level) for row in rows})
    by_mode: dict[str, list[Result]] = {}
    for row in rows:
        by_mode.setdefault(row.mode, []).append(row)
    # Unnamed sets can't be distinguished: then there are as many as some mode has rows.
    wanted = max([sets, *map(len, by_mode.values())])
    return {MEAN + mode: mean_results(rows) for mode, rows in by_mode.items() if len(rows) == wanted}


def make_report(about: Mapping[str, object], sets: Sequence[SetReport]) -> Report:
    """Return the report of some sets, with the means of all where there are several."""
    means = aggregate_by_mode(row for each in sets for row in each.results) if len(sets) > 1 else {}
    return Report(about, tuple(sets), tuple(means.values()))


def _means(values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of every figure that all have."""
    shared = [name for name in values[0] if all(name in each for each in values)]
    return {name: sum(each[name] for each in values) / len(values) for name in shared}


def _interval(metric: str, results: Sequence[Result]) -> Interval | None:
    """Return the interval of a mean; None if values of queries are missing, as in saved reports."""
    known = all(row.cases and all(metric in case.values for case in row.cases) for row in results)
    return Interval(*bootstrap_macro([row.values(metric) for row in results])) if known else None
