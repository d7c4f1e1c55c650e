"""The tables of a report, before they become text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dowse.eval.reports.aggregate import differences, mean_interval
from dowse.eval.reports.model import MEAN, Report, SetReport
from dowse.eval.reports.wording import gain_note, half_label, metric_label, too_few_note
from dowse.eval.stats import FEWEST, Difference
from dowse.eval.types import Interval, Result

# Shown beside the headline in every table, where they are not the headline themselves.
_ALWAYS = ("mrr@100", "ndcg@10")
# The share of the first ten that was judged, and nDCG without what was not.
_FEW_JUDGEMENTS = {"judged@10": "judged@10", "condensed_ndcg@10": "condensed"}
_CUT = "MRR is cut at 100"
_LATENCY = ("p50_ms", "p95_ms", "p99_ms")


@dataclass(frozen=True, slots=True)
class Row:
    """One configuration or tool."""

    mode: str
    value: float | None  # the headline
    interval: Interval | None
    difference: Difference | None  # to the baseline, which has none itself
    result: Result
    best: bool = False
    baseline: bool = False

    def metric(self, name: str) -> float | None:
        """Return a metric or a latency, if it was measured."""
        return self.result.latency.get(name) if name.endswith("_ms") else self.result.metrics.get(name)


@dataclass(frozen=True, slots=True)
class Group:
    """Columns under one heading."""

    title: str
    columns: tuple[tuple[str, str], ...]  # (metric, label)


@dataclass(frozen=True, slots=True)
class Table:
    """A set's rows, or the means of all sets."""

    name: str
    metric: str  # the headline's label
    facts: tuple[str, ...]  # what the title says beside the name: queries, split, level
    notes: tuple[str, ...]  # how to read the figures
    rows: tuple[Row, ...]
    groups: tuple[Group, ...]
    remarks: tuple[str, ...] = ()  # problems, each a sentence of its own

    @property
    def compares(self) -> bool:
        """Whether any row has a difference to show."""
        return any(row.difference for row in self.rows)


def set_table(each: SetReport) -> Table:
    """Return the table of one set."""
    facts, baseline = each.dataset, each.baseline_mode
    by_mode = differences((each,), baseline)
    rows = [
        Row(
            mode=row.mode,
            value=row.metrics.get(each.metric),
            interval=row.intervals.get(each.metric),
            difference=by_mode.get(row.mode),
            result=row,
            baseline=row.mode == baseline,
        )
        for row in each.results
    ]
    few = len(each.results) > 0 and facts.cases < FEWEST
    return Table(
        name=facts.name,
        metric=metric_label(each.metric),
        facts=(
            f"{facts.cases:,} question{'s' if facts.cases != 1 else ''}",
            half_label(facts.half),
            f"{facts.level} level",
            *(("documentation stripped",) if facts.strip_docs else ()),
        ),
        notes=_notes(each),
        rows=_mark_best(rows),
        groups=_groups(each.results, {each.metric}),
        remarks=(*facts.notes, *((too_few_note(facts.cases),) if few else ())),
    )


def mean_table(report: Report) -> Table | None:
    """Return the table of means over all sets, if there are several."""
    if not report.means or not report.sets:
        return None
    by_mode = differences(report.sets, report.against)
    metrics = {each.metric for each in report.sets}
    rows = _mark_best([_mean_row(report, row, by_mode) for row in report.means])
    halves = dict.fromkeys(half_label(each.dataset.half) for each in report.sets)
    cases = sum(each.dataset.cases for each in report.sets)
    return Table(
        name=f"mean of {len(report.sets)} sets",
        metric=metric_label(next(iter(metrics))) if len(metrics) == 1 else "headline",
        facts=(f"{cases:,} questions", " and ".join(halves), "every set counts the same"),
        notes=_mean_notes(report),
        rows=rows,
        groups=_groups(report.means, metrics if len(metrics) == 1 else set()),
        remarks=(too_few_note(cases),) if cases < FEWEST else (),
    )


def _mean_row(report: Report, row: Result, by_mode: dict[str, Difference]) -> Row:
    mode = row.mode.removeprefix(MEAN)
    metrics = {each.metric for each in report.sets}
    known = row.intervals.get(next(iter(metrics))) if len(metrics) == 1 else None
    return Row(
        mode=row.mode,
        value=report.headline(mode),
        interval=known or mean_interval(report, mode),
        difference=by_mode.get(mode),
        result=row,
        baseline=mode == report.against,
    )


def _mark_best(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the rows with the best one marked; of equals the baseline, or else the first."""
    known = [row for row in rows if row.value is not None]
    best = max(known, key=lambda row: (row.value or 0.0, row.baseline), default=None)
    return tuple(replace(row, best=row is best) for row in rows)


def _notes(each: SetReport) -> tuple[str, ...]:
    facts = each.dataset
    many = facts.counting == "results" and facts.level == "file"
    counted = "every result takes a place" if many else f"each {facts.level} counts once"
    few = any("condensed_ndcg@10" in row.metrics for row in each.results)
    condensed = ("condensed: nDCG@10 without what nobody judged",) if few else ()
    decides = f"{metric_label(each.metric)} decides"
    return (decides, _CUT, gain_note(facts.graded), counted, *condensed)


def _mean_notes(report: Report) -> tuple[str, ...]:
    metrics = dict.fromkeys(metric_label(each.metric) for each in report.sets)
    graded = {each.dataset.graded for each in report.sets}
    gains = gain_note(next(iter(graded))) if len(graded) == 1 else "nDCG is graded where judgements are"
    decides = " or ".join(metrics) + (", as each set has it, decides" if len(metrics) > 1 else " decides")
    return (decides, _CUT, gains)


def _groups(rows: Iterable[Result], headline: set[str]) -> tuple[Group, ...]:
    """Return the columns beside the headline: those that some row has."""
    rows = list(rows)
    known = dict.fromkeys(name for row in rows for name in row.metrics)
    single = [Group("", ((name, metric_label(name)),)) for name in _ALWAYS if name in known.keys() - headline]
    timed = [name for name in _LATENCY if any(name in row.latency for row in rows)]
    cut = [
        Group(
            f"{kind} at",
            tuple((name, name.partition("@")[2]) for name in known if name.startswith(kind + "@")),
        )
        for kind in ("recall", "hit")
    ]
    few = tuple((name, label) for name, label in _FEW_JUDGEMENTS.items() if name in known)
    groups = (
        *single,
        *cut,
        Group("few judgements", few),
        Group("milliseconds", tuple((name, name.removesuffix("_ms")) for name in timed)),
    )
    return tuple(group for group in groups if group.columns)
