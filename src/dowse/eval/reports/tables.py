"""What a table of a report shows, before it becomes text, Markdown or HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dowse.eval.configurations import is_diversified
from dowse.eval.diversity import ALPHA_NDCG, MEANING, TREE
from dowse.eval.reports.differences import (
    differences,
    like_best,
    like_best_mean,
    mean_differences,
    mean_interval,
)
from dowse.eval.reports.model import MEAN, Report, SetReport, ranks_answers
from dowse.eval.reports.wording import gains, half_label, metric_label, too_few
from dowse.eval.stats import FEWEST, Difference
from dowse.eval.types import Interval, Result

# Shown beside the headline in every table, where they are not the headline themselves.
_ALWAYS = ("mrr@100", "ndcg@10")
# How much of the first ten was judged at all, and nDCG without what was not.
_FEW_JUDGEMENTS = {"judged@10": "judged@10", "condensed_ndcg@10": "condensed"}
# How varied the first ten are.
_DIVERSITY = {ALPHA_NDCG: "α-nDCG", TREE: "tree", MEANING: "meaning"}
_DIVERSITY_NOTE = (
    "diversity: α-nDCG (α .5, an aspect is a repository, or a folder where there is one repository), and the "
    "mean distance between the first ten, in hops of the tree and as 1 − cosine"
)
_CUT = "MRR is cut at 100"
_LATENCY = ("p50_ms", "p95_ms", "p99_ms")


@dataclass(frozen=True, slots=True)
class Row:
    """One way of searching."""

    mode: str
    cases: int
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
    """Columns that stand under one heading."""

    title: str
    columns: tuple[tuple[str, str], ...]  # (metric, label)


@dataclass(frozen=True, slots=True)
class Table:
    """A set's rows, or the means of all sets."""

    name: str
    metric: str  # the headline's label
    facts: tuple[str, ...]  # what the title says beside the name: questions, half, level
    notes: tuple[str, ...]  # what one must know to read the figures
    against: str
    rows: tuple[Row, ...]
    groups: tuple[Group, ...]
    like_best: tuple[str, ...] = ()  # rows that can't be told from the best one
    remarks: tuple[str, ...] = ()  # what is amiss, each a sentence of its own

    @property
    def clear(self) -> bool:
        """Whether the best row may be called so: what it is compared with is not as good."""
        return self.against not in self.like_best

    @property
    def standing(self) -> str:
        """What the best row is called."""
        return "best" if self.clear else "highest"

    @property
    def also(self) -> tuple[str, ...]:
        """The rows like the best one, without the one that it is compared with at length."""
        said = self.against if self.best and self.best.difference else ""
        return tuple(mode for mode in self.like_best if mode != said)

    @property
    def compares(self) -> bool:
        """Whether any row has a difference to show."""
        return any(row.difference for row in self.rows)

    @property
    def uneven(self) -> bool:
        """Whether rows were asked different numbers of questions."""
        return len({row.cases for row in self.rows}) > 1

    @property
    def best(self) -> Row | None:
        """The row that is best by the headline."""
        return next((row for row in self.rows if row.best), None)


def set_table(each: SetReport) -> Table:
    """Return the table of one set."""
    facts, baseline = each.dataset, each.baseline
    found = differences(each)
    rows = _marked(
        [
            Row(
                mode=row.mode,
                cases=len(row.cases) or facts.cases,
                value=row.metrics.get(each.metric),
                interval=row.intervals.get(each.metric),
                difference=found.get(row.mode),
                result=row,
                baseline=baseline is not None and row.mode == baseline.mode,
            )
            for row in each.results
            if ranks_answers(row)
        ]
    )
    said = (
        f"{facts.cases:,} question{'s' if facts.cases != 1 else ''}",
        half_label(facts.half),
        f"{facts.level} level",
        *(("documentation stripped",) if facts.strip_docs else ()),
    )
    few = len(each.results) > 0 and facts.cases < FEWEST
    return Table(
        name=facts.name,
        metric=metric_label(each.metric),
        facts=said,
        notes=_notes(each, metric_label(each.metric)),
        against=baseline.mode if baseline else each.against,
        rows=rows,
        groups=_groups(each.results, {each.metric}),
        like_best=like_best(each),
        remarks=(*facts.notes, *((too_few(facts.cases),) if few else ())),
    )


def mean_table(report: Report) -> Table | None:
    """Return the table of means over all sets, if there are several."""
    if not report.means or not report.sets:
        return None
    found = mean_differences(report)
    metrics = {each.metric for each in report.sets}
    ranking = [row for row in report.means if ranks_answers(row)]
    rows = _marked([_mean_row(report, row, found) for row in ranking])
    halves = dict.fromkeys(half_label(each.dataset.half) for each in report.sets)
    cases = sum(each.dataset.cases for each in report.sets)
    best = next((row.mode.removeprefix(MEAN) for row in rows if row.best), "")
    return Table(
        name=f"mean of {len(report.sets)} sets",
        metric=metric_label(next(iter(metrics))) if len(metrics) == 1 else "headline",
        facts=(f"{cases:,} questions", " and ".join(halves), "every set counts the same"),
        notes=_mean_notes(report),
        against=MEAN + report.against,
        rows=rows,
        groups=_groups(report.means, metrics if len(metrics) == 1 else set()),
        like_best=tuple(MEAN + mode for mode in like_best_mean(report, best)),
        remarks=(too_few(cases),) if cases < FEWEST else (),
    )


def _mean_row(report: Report, row: Result, found: dict[str, Difference]) -> Row:
    mode = row.mode.removeprefix(MEAN)
    metrics = {each.metric for each in report.sets}
    value = report.headline(mode)
    known = row.intervals.get(next(iter(metrics))) if len(metrics) == 1 else None
    return Row(
        mode=row.mode,
        cases=sum(len(each_row.cases) for each in report.sets if (each_row := each.row(mode))),
        value=value,
        interval=known or mean_interval(report, mode),
        difference=found.get(mode),
        result=row,
        baseline=mode == report.against,
    )


def _marked(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the rows with the best one marked; of equals the one compared with, or else the first."""
    known = [row for row in rows if row.value is not None]
    best = max(known, key=lambda row: (row.value or 0.0, row.baseline), default=None)
    return tuple(replace(row, best=row is best) for row in rows)


def _notes(each: SetReport, headline: str) -> tuple[str, ...]:
    facts = each.dataset
    many = facts.counting == "results" and facts.level == "file"
    counted = "every result takes a place" if many else f"each {facts.level} counts once"
    few = any("condensed_ndcg@10" in row.metrics for row in each.results)
    condensed = ("condensed: nDCG@10 without what nobody judged",) if few else ()
    said = (*condensed, *_same(each.results), *_diversity_note(each.results))
    return (f"{headline} decides", _CUT, gains(facts.graded), counted, *said)


def _mean_notes(report: Report) -> tuple[str, ...]:
    metrics = dict.fromkeys(metric_label(each.metric) for each in report.sets)
    graded = {each.dataset.graded for each in report.sets}
    kinds = gains(next(iter(graded))) if len(graded) == 1 else "nDCG is graded where judgements are"
    decides = " or ".join(metrics) + (", as each set has it, decides" if len(metrics) > 1 else " decides")
    return (decides, _CUT, kinds, *_same(report.means), *_diversity_note(report.means))


def _diversity_note(rows: Iterable[Result]) -> tuple[str, ...]:
    return (_DIVERSITY_NOTE,) if _diversity(rows) else ()


def _diversity(rows: Iterable[Result]) -> tuple[tuple[str, str], ...]:
    """Return the columns of diversity; none unless a row is about it, or tables are wide for nothing."""
    rows = list(rows)
    if not any(is_diversified(row.mode) for row in rows):
        return ()
    known = {name for row in rows for name in row.metrics}
    return tuple((name, label) for name, label in _DIVERSITY.items() if name in known)


def _same(rows: Iterable[Result]) -> tuple[str, ...]:
    return ("hit equals recall",) if _hit_is_recall(rows) else ()


def _hit_is_recall(rows: Iterable[Result]) -> bool:
    """Whether one column tells both, as where every question has one answer."""
    pairs = [
        (value, row.metrics.get("hit@" + name.partition("@")[2]))
        for row in rows
        for name, value in row.metrics.items()
        if name.startswith("recall@")
    ]
    return bool(pairs) and all(hit is not None and abs(hit - value) < 1e-9 for value, hit in pairs)


def _groups(rows: Iterable[Result], headline: set[str]) -> tuple[Group, ...]:
    """Return the columns beside the headline: those that some row has."""
    rows = list(rows)
    known = dict.fromkeys(name for row in rows for name in row.metrics)
    single = [
        Group("", ((name, metric_label(name)),)) for name in _ALWAYS if name in known and name not in headline
    ]
    timed = tuple(
        (name, name.removesuffix("_ms")) for name in _LATENCY if any(name in r.latency for r in rows)
    )
    few = tuple((name, label) for name, label in _FEW_JUDGEMENTS.items() if name in known)
    cut = [
        Group(
            f"{kind} at",
            tuple((name, name.partition("@")[2]) for name in known if name.startswith(kind + "@")),
        )
        for kind in (("recall",) if _hit_is_recall(rows) else ("recall", "hit"))
    ]
    others = (Group("few judgements", few), Group("diversity at 10", _diversity(rows)))
    found = (*single, *cut, *others, Group("milliseconds", timed))
    return tuple(group for group in found if group.columns)
