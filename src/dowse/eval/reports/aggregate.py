"""Statistics over the rows of a report: macro averages over sets, and differences by the paired test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from dowse.eval.reports.model import MEAN, Report, SetReport
from dowse.eval.stats import Difference, bootstrap_macro, compare_macro
from dowse.eval.types import Interval, Result

# The values of the queries of each set.
_Groups = tuple[tuple[float, ...], ...]


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
        intervals={name: interval for name in metrics if (interval := _metric_interval(name, results))},
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


def differences(sets: Sequence[SetReport], against: str) -> dict[str, Difference]:
    """Return the difference of every mode to one, on the mean of the headlines, if they share queries."""
    by_mode = {}
    for mode in dict.fromkeys(row.mode for each in sets for row in each.results):
        rows = [(each.row(mode), each.row(against), each.metric) for each in sets]
        pairs = [paired(one, other, metric) for one, other, metric in rows if one and other]
        if mode != against and len(pairs) == len(sets) and all(ours for ours, _ in pairs):
            ours, theirs = (tuple(tuple(pair[side]) for pair in pairs) for side in (0, 1))
            by_mode[mode] = _compare(ours, theirs)
    return by_mode


def mean_interval(report: Report, mode: str) -> Interval | None:
    """Return the confidence interval of the mean of the sets' headlines."""
    rows = [(each.metric, each.row(mode)) for each in report.sets]
    groups = [[c.values[m] for c in row.cases if m in c.values] if row else [] for m, row in rows]
    return _interval(tuple(map(tuple, groups))) if groups and all(groups) else None


def paired(one: Result, other: Result, metric: str) -> tuple[list[float], list[float]]:
    """Return the values of the queries that both rows have, in the same order."""
    if [case.id for case in one.cases] == [case.id for case in other.cases]:
        pairs = list(zip(one.cases, other.cases, strict=True))
    else:
        theirs = {case.id: case for case in other.cases}
        pairs = [(case, theirs[case.id]) for case in one.cases if case.id in theirs]
    kept = [(a.values, b.values) for a, b in pairs if metric in a.values and metric in b.values]
    return [a[metric] for a, _ in kept], [b[metric] for _, b in kept]


def _means(values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of every figure that all have."""
    shared = [name for name in values[0] if all(name in each for each in values)]
    return {name: sum(each[name] for each in values) / len(values) for name in shared}


def _metric_interval(metric: str, results: Sequence[Result]) -> Interval | None:
    """Return the interval of a mean; None if values of queries are missing, as in saved reports."""
    known = all(row.cases and all(metric in case.values for case in row.cases) for row in results)
    return _interval(tuple(tuple(row.values(metric)) for row in results)) if known else None


# Each form of a report needs the same, and resampling a thousand queries takes a moment.
@lru_cache(maxsize=1024)
def _compare(ours: _Groups, theirs: _Groups) -> Difference:
    return compare_macro(ours, theirs)


@lru_cache(maxsize=256)
def _interval(groups: _Groups) -> Interval:
    return Interval(*bootstrap_macro(groups))
