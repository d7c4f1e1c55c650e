"""The quality gate of a new default: as good as the old one on the mean and on every single set."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.errors import EvalError
from dowse.eval.reports.model import PLACES, Report, SetReport
from dowse.eval.reports.wording import format_p, format_score, metric_label, one_line, significance
from dowse.eval.stats import Difference, compare_macro
from dowse.json_form import json_form
from dowse.lazy_classes import dataclass, replace

# Means closer than this are equal.
TOLERANCE = 1e-9
# What must agree before two reports can be compared.
_SAME = ("level", "half", "counting", "strip_docs")
_COLUMNS = ("set", "metric", "cases", "candidate", "baseline", "difference", "95 % interval", "p", "", "")
# The first columns hold names, the last ones words, the others figures, which are aligned to the right.
_NAMES, _FIGURES_END = 2, len(_COLUMNS) - 2
# More than other tables show: the gate turns on small differences.
_PLACES = 4


@json_form(properties=("passed",))
@dataclass(frozen=True, slots=True)
class GateRow:
    """How the candidate did against the baseline on one set, or on the mean of all."""

    name: str
    metric: str
    cases: int
    candidate: float
    baseline: float
    difference: Difference  # candidate − baseline
    forgiven: bool = False  # lower, but within noise, and the caller allows that

    @property
    def lower(self) -> bool:
        """Whether the candidate is worse, significantly or not."""
        return self.candidate < self.baseline - TOLERANCE

    @property
    def passed(self) -> bool:
        """Whether this row lets the candidate through."""
        return self.forgiven or not self.lower

    @property
    def verdict(self) -> str:
        """The verdict of this row in a word."""
        return "forgiven" if self.forgiven else "LOWER" if self.lower else "ok"


@json_form(renamed={"rows": "sets"})
@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a candidate may replace a baseline, and why."""

    passed: bool
    candidate: str
    baseline: str
    within_noise: bool
    mean: GateRow
    rows: tuple[GateRow, ...]
    reasons: tuple[str, ...]


def gate(
    report: Report,
    candidate: str,
    baseline: str,
    *,
    metric: str = "",
    within_noise: bool = False,
    baseline_report: Report | None = None,
) -> Verdict:
    """Compare two rows of a report on every set, and say whether the first may replace the second.

    Args:
        report: With both rows, or with the candidate's alone if `baseline_report` is given.
        candidate: The row that wants to become a default.
        baseline: The row that is one.
        metric: What to compare by; "" takes every set's own.
        within_noise: Let pass what is lower by no more than the paired test calls noise. A choice one must
            make: small sets call much noise, and many small losses add up.
        baseline_report: Where the baseline's rows are, if they come from another run. It must have the same
            sets with the same questions.

    Raises:
        EvalError: If rows or sets are missing, or the two were not asked the same.
    """
    if not report.sets:
        raise EvalError("the report has no sets; run `dowse eval` with at least one dataset")
    pairs = [(each, each) for each in report.sets]
    if baseline_report is not None:
        pairs = _matched(report, baseline_report)
    values = [_paired(one, other, candidate, baseline, metric or one.metric) for one, other in pairs]
    rows = [
        _row(each.dataset.name, metric or each.metric, [ours], [theirs], within_noise)
        for (each, _), (ours, theirs) in zip(pairs, values, strict=True)
    ]
    shown = metric or (rows[0].metric if len({row.metric for row in rows}) == 1 else "each set's own")
    mean = _row("mean", shown, [ours for ours, _ in values], [theirs for _, theirs in values], within_noise)
    passed = all(row.passed for row in (mean, *rows))
    reasons = tuple(_reasons((mean, *rows), passed))
    return Verdict(passed, candidate, baseline, within_noise, mean, tuple(rows), reasons)


def _row(
    name: str, metric: str, ours: Sequence[list[float]], theirs: Sequence[list[float]], within_noise: bool
) -> GateRow:
    """Compare one set, or the mean of several."""
    difference = compare_macro(ours, theirs)
    row = GateRow(
        name=name,
        metric=metric,
        cases=sum(map(len, ours)),
        candidate=_macro_average(ours),
        baseline=_macro_average(theirs),
        difference=difference,
    )
    return replace(row, forgiven=within_noise and row.lower and not difference.real)


def _macro_average(groups: Sequence[Sequence[float]]) -> float:
    return sum(sum(group) / len(group) for group in groups) / len(groups)


def _matched(report: Report, other: Report) -> list[tuple[SetReport, SetReport]]:
    """Return each set of one report with the same set of the other."""
    ours = {each.dataset.name: each for each in report.sets}
    theirs = {each.dataset.name: each for each in other.sets}
    missing = sorted(ours.keys() ^ theirs.keys())
    if missing:
        raise EvalError(
            f"only one of the two reports has {', '.join(missing)}; run both on the same datasets"
        )
    for name, each in ours.items():
        for fact in _SAME:
            one, two = getattr(each.dataset, fact), getattr(theirs[name].dataset, fact)
            if one != two:
                raise EvalError(
                    f"{name}: one report has {fact} {one}, the other {two}; run both with the same {fact}"
                )
    return [(each, theirs[name]) for name, each in ours.items()]


def _paired(
    one: SetReport, other: SetReport, candidate: str, baseline: str, metric: str
) -> tuple[list[float], list[float]]:
    """Return the values of both rows, question by question."""
    ours, theirs = _values(one, candidate, metric), _values(other, baseline, metric)
    if ours.keys() != theirs.keys():
        raise EvalError(
            f"{one.dataset.name}: {candidate} and {baseline} were not asked the same questions, e.g. "
            f"{min(ours.keys() ^ theirs.keys())}; run both on the same file of questions"
        )
    return list(ours.values()), [theirs[name] for name in ours]


def _values(each: SetReport, mode: str, metric: str) -> dict[str, float]:
    """Return the value of each question by its id."""
    row = each.row(mode)
    if row is None:
        rows = ", ".join(row.mode for row in each.results) or "none"
        raise EvalError(f"{each.dataset.name} has no row {mode!r}, its rows are: {rows}; name one of them")
    if not row.cases:
        raise EvalError(f"{each.dataset.name}: {mode} was asked no questions; leave the set out")
    known = [name for name in row.cases[0].values if all(name in case.values for case in row.cases)]
    if metric not in known:
        raise EvalError(
            f"{each.dataset.name}: {mode} has no {metric} for each question; choose one of {', '.join(known)}"
        )
    # With more places than a saved report has, a report would be judged differently from its own file.
    return {case.id: round(case.values[metric], PLACES) for case in row.cases}


def _reasons(rows: Sequence[GateRow], passed: bool) -> list[str]:
    """Return the verdict in words."""
    reasons = [_loss(row) for row in rows if row.lower]
    if passed and not reasons:
        sets = "the only set" if len(rows) == 2 else f"each of the {len(rows) - 1} sets"
        reasons.append(f"at least as good on the mean and on {sets}")
    return reasons


def _loss(row: GateRow) -> str:
    name = "the mean" if row.name == "mean" else row.name
    end = " (forgiven: --within-noise)" if row.forgiven else ""
    return (
        f"lower on {name} by {row.baseline - row.candidate:.4f}, which is {significance(row.difference)}{end}"
    )


def render_gate(verdict: Verdict) -> str:
    """Return a verdict as text: a table with a row for each set, and the reasons."""
    table = [_COLUMNS, *(tuple(map(one_line, _row_cells(row))) for row in (*verdict.rows, verdict.mean))]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(_aligned(cells, widths)).rstrip() for cells in table]
    state = "PASSED" if verdict.passed else "FAILED"
    choice = ", within noise" if verdict.within_noise else ""
    head = f"gate {state}{choice}: {one_line(verdict.candidate)} against {one_line(verdict.baseline)}"
    reasons = (f"- {one_line(reason)}" for reason in verdict.reasons)
    return "\n".join([head, "", *lines, "", *reasons]) + "\n"


def _row_cells(row: GateRow) -> tuple[str, ...]:
    difference = row.difference
    return (
        row.name,
        metric_label(row.metric),
        f"{row.cases:,}",
        format_score(row.candidate, _PLACES),
        format_score(row.baseline, _PLACES),
        _signed(row.candidate - row.baseline),
        f"{_signed(difference.low)} to {_signed(difference.high)}",
        format_p(difference.p),
        significance(difference),
        row.verdict,
    )


def _signed(value: float) -> str:
    """Return a difference with its sign; one that rounds to 0 keeps the sign, for it may decide."""
    sign = "±" if value == 0 else "−" if value < 0 else "+"
    return sign + format_score(abs(value), _PLACES)


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        cell.rjust(width) if _NAMES <= i < _FIGURES_END else cell.ljust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
