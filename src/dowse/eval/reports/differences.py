"""How rows compare with the one they are compared with: on each set, and on the mean of all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from dowse.eval.reports.model import Report, SetReport
from dowse.eval.stats import Difference, bootstrap_macro, compare, compare_macro
from dowse.eval.types import Interval, Result


def differences(each: SetReport) -> dict[str, Difference]:
    """Return every row's difference to the baseline on the headline metric."""
    baseline = each.baseline
    found = {}
    for row in each.results:
        if baseline is None or row.mode == baseline.mode:
            continue
        ours, theirs = paired(row, baseline, each.metric)
        if ours:
            found[row.mode] = _compare(tuple(ours), tuple(theirs))
    return found


def mean_differences(report: Report) -> dict[str, Difference]:
    """Return every mode's difference to the baseline on the mean of the sets' headlines."""
    return _mean_differences(report, report.against)


def _mean_differences(report: Report, against: str) -> dict[str, Difference]:
    found = {}
    for mode in report.modes:
        if mode == against:
            continue
        pairs = [_pair_of(each, mode, against) for each in report.sets]
        if pairs and all(pair[0] for pair in pairs):
            ours, theirs = (tuple(tuple(pair[side]) for pair in pairs) for side in (0, 1))
            found[mode] = _compare_macro(ours, theirs)
    return found


def like_best(each: SetReport) -> tuple[str, ...]:
    """Return the rows that can't be told from the best one: they differ from it by no more than noise."""
    best = each.best
    pairs = {row.mode: paired(row, best, each.metric) for row in each.results if best and row is not best}
    return tuple(
        mode
        for mode, (ours, theirs) in pairs.items()
        if ours and not _compare(tuple(ours), tuple(theirs)).real
    )


def like_best_mean(report: Report, best: str) -> tuple[str, ...]:
    """Return the modes whose mean can't be told from that of the best one."""
    return tuple(mode for mode, found in _mean_differences(report, best).items() if not found.real)


def mean_interval(report: Report, mode: str) -> Interval | None:
    """Return where the mean of the sets' headlines lies."""
    rows = [(each.metric, each.row(mode)) for each in report.sets]
    groups = [[c.values[m] for c in row.cases if m in c.values] if row else [] for m, row in rows]
    return _interval(tuple(map(tuple, groups))) if groups and all(groups) else None


# Each form of a report asks the same, and resampling a thousand questions takes a moment.
_compare = lru_cache(maxsize=1024)(compare)
_compare_macro = lru_cache(maxsize=256)(compare_macro)


@lru_cache(maxsize=256)
def _interval(groups: tuple[tuple[float, ...], ...]) -> Interval:
    return Interval(*bootstrap_macro(groups))


def paired(one: Result, other: Result, metric: str) -> tuple[list[float], list[float]]:
    """Return the values of the questions that both rows were asked, in the same order."""
    if [case.id for case in one.cases] == [case.id for case in other.cases]:
        pairs = list(zip(one.cases, other.cases, strict=True))
    else:
        theirs = {case.id: case for case in other.cases}
        pairs = [(case, theirs[case.id]) for case in one.cases if case.id in theirs]
    kept = [
        (a.values[metric], b.values[metric]) for a, b in pairs if metric in a.values and metric in b.values
    ]
    return [a for a, _ in kept], [b for _, b in kept]


def _pair_of(each: SetReport, mode: str, against: str) -> tuple[Sequence[float], Sequence[float]]:
    one, other = each.row(mode), each.row(against)
    return paired(one, other, each.metric) if one and other else ([], [])
