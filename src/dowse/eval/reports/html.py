"""Reports as one HTML file: the evaluation page of the web interface, with the report inside.

The page is built from web/ (`scripts/page build`). Its Content-Security-Policy runs its own script alone and
loads nothing, so the file works from a disk without a network, and text of others in it stays text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import dowse
from dowse.errors import EvalError
from dowse.eval.reports.aggregate import differences
from dowse.eval.reports.json_form import WORST, difference_json, to_json
from dowse.eval.reports.model import MEAN, Report
from dowse.eval.reports.tables import Table, mean_table, set_table
from dowse.eval.reports.wording import (
    format_difference,
    format_interval,
    format_score,
    one_line,
    p_statement,
    ties_note,
)

_PAGE = Path(dowse.__file__).parent / "interfaces" / "http" / "page" / "report.html"
# Stands in the page where the report belongs.
_PLACEHOLDER = '"%REPORT%"'


def render_html(report: Report, worst: int = WORST) -> str:
    """Return a report as one self-contained HTML file; the worst queries of each set keep their text."""
    mean = mean_table(report)
    data: dict[str, object] = {
        "report": to_json(report, worst),
        "tables": [_table_notes(set_table(each)) for each in report.sets],
        "mean": None,
    }
    if mean:
        by_mode = differences(report.sets, report.against)
        shown = {mode: difference_json(each) for mode, each in by_mode.items()}
        data["mean"] = {**_table_notes(mean), "differences": shown}
    # Plain ASCII has no characters that turn text around; without "<" no name ends the element or opens a
    # comment in it.
    text = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    before, after = _template()
    return f"{before}{text}{after}"


@cache
def _template() -> tuple[str, str]:
    """Return what stands before and after the report."""
    try:
        page = _PAGE.read_text(encoding="utf-8")
    except OSError as error:
        raise EvalError(f"{_PAGE} can't be read ({error.strerror}); run `scripts/page build`") from error
    before, _, after = page.rpartition(_PLACEHOLDER)
    return before, after


def _table_notes(table: Table) -> Mapping[str, object]:
    """Return what the page shows of a table in words; the figures are in the report."""
    return {
        "conclusion": one_line(_conclusion(table)),
        "facts": list(table.facts),
        "notes": list(table.notes),
        "remarks": [one_line(each) for each in table.remarks],
    }


def _conclusion(table: Table) -> str:
    """Return which row is best, by how much, and which others can't be told from it."""
    best = table.best
    if best is None:
        return ""
    where = f" on the {table.name}" if best.mode.startswith(MEAN) else ""
    standing = f" is {table.standing}" if len(table.rows) > 1 else ""
    text = f"{best.mode.removeprefix(MEAN)}{standing}{where}: {table.metric} {format_score(best.value)}"
    text += f" ({format_interval(best.interval)})" if best.interval else ""
    if best.difference:
        kind = "a real difference" if best.difference.real else "which may be noise"
        against = table.against.removeprefix(MEAN)
        text += f". Against {against} that is {format_difference(best.difference.mean)}, {kind}"
        text += f" ({p_statement(best.difference.p)})"
    if table.other_ties:
        text += f". {ties_note([mode.removeprefix(MEAN) for mode in table.other_ties])}"
    return text
