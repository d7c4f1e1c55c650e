"""Differences of rows to the baseline, by the paired test: on each set, and on the mean of all."""

from __future__ import annotations

from functools import lru_cache

from dowse.eval.reports.model import Report, SetReport
from dowse.eval.stats import Difference, bootstrap_macro, compare_macro
from dowse.eval.types import Interval, Result

# The values of the queries of each set.
_Groups = tuple[tuple[float, ...], ...]


def differences(each: SetReport) -> dict[str, Difference]:
    """Return every row's difference to the baseline on the headline metric."""
    return _differences((each,), each.baseline.mode) if each.baseline else {}


def mean_differences(report: Report) -> dict[str, Difference]:
    """Return every mode's difference to the baseline on the mean of the sets' headlines."""
    return _differences(report.sets, report.against)


def ties_with_best(each: SetReport) -> tuple[str, ...]:
    """Return the rows that do not differ significantly from the best one."""
    return _ties((each,), each.best.mode) if each.best else ()


def mean_ties_with_best(report: Report, best: str) -> tuple[str, ...]:
    """Return the modes whose mean does not differ significantly from that of the best one."""
    return _ties(report.sets, best)


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


def _ties(sets: tuple[SetReport, ...], best: str) -> tuple[str, ...]:
    return tuple(mode for mode, found in _differences(sets, best).items() if not found.real)


def _differences(sets: tuple[SetReport, ...], against: str) -> dict[str, Difference]:
    """Return the difference of each mode that shares queries with another one on every set."""
    found = {}
    for mode in dict.fromkeys(row.mode for each in sets for row in each.results):
        rows = [(each.row(mode), each.row(against), each.metric) for each in sets]
        pairs = [paired(one, other, metric) for one, other, metric in rows if one and other]
        if mode != against and len(pairs) == len(sets) and all(ours for ours, _ in pairs):
            ours, theirs = (tuple(tuple(pair[side]) for pair in pairs) for side in (0, 1))
            found[mode] = _compare(ours, theirs)
    return found


# Each form of a report needs the same, and resampling a thousand queries takes a moment.
@lru_cache(maxsize=1024)
def _compare(ours: _Groups, theirs: _Groups) -> Difference:
    return compare_macro(ours, theirs)


@lru_cache(maxsize=256)
def _interval(groups: _Groups) -> Interval:
    return Interval(*bootstrap_macro(groups))
