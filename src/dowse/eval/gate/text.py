"""The verdict of a gate as text and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from dowse.eval.gate.decide import GateRow, Verdict
from dowse.eval.reports.markdown import escape_markdown, table_lines
from dowse.eval.reports.wording import format_p, format_score, metric_label, one_line, significance

_HEAD = ("set", "metric", "cases", "candidate", "baseline", "difference", "95 % interval", "p", "", "")
# The first columns hold names, the last ones words, the others figures, which are aligned to the right.
_NAMES, _FIGURES_END = 2, len(_HEAD) - 2
# More than other tables show: the gate turns on small differences.
_PLACES = 4


def render_gate(verdict: Verdict) -> str:
    """Return a verdict as text: a table with a row for each set, and the reasons."""
    table = [_HEAD, *(tuple(map(one_line, _cells(row))) for row in (*verdict.rows, verdict.mean))]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(_aligned(cells, widths)).rstrip() for cells in table]
    reasons = (f"- {one_line(reason)}" for reason in verdict.reasons)
    return "\n".join([_headline(verdict), "", *lines, "", *reasons]) + "\n"


def render_gate_markdown(verdict: Verdict) -> str:
    """Return a verdict as Markdown."""
    rows = (map(escape_markdown, _cells(row)) for row in (*verdict.rows, verdict.mean))
    table = table_lines((*_HEAD[:-2], "kind", "verdict"), rows, _NAMES)
    reasons = (f"- {escape_markdown(reason)}" for reason in verdict.reasons)
    return "\n".join([f"## {escape_markdown(_headline(verdict))}", "", table, "", *reasons]) + "\n"


def _headline(verdict: Verdict) -> str:
    state = "PASSED" if verdict.passed else "FAILED"
    choice = ", within noise" if verdict.within_noise else ""
    return f"gate {state}{choice}: {one_line(verdict.candidate)} against {one_line(verdict.baseline)}"


def _cells(row: GateRow) -> tuple[str, ...]:
    found = row.difference
    return (
        row.name,
        metric_label(row.metric),
        f"{row.cases:,}",
        format_score(row.candidate, _PLACES),
        format_score(row.baseline, _PLACES),
        _signed(row.candidate - row.baseline),
        f"{_signed(found.low)} to {_signed(found.high)}",
        format_p(found.p),
        significance(found),
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
