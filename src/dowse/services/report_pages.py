"""The contents of evaluation reports, as the page shows them: one report, or a page of its cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dowse.eval.reports.model import SetReport, first_rank
from dowse.eval.types import CaseResult, Result
from dowse.services.errors import NotFound
from dowse.services.reports import Reports, SavedReport, figures, summary

_COPIED = ("name", "level", "metric", "half", "cases", "strip_docs", "graded", "index", "notes")


def list_reports(reports: Reports) -> dict[str, Any]:
    """Return the summaries of all reports, and the problems of invalid files."""
    saved, problems = reports.all()
    return {"reports": [summary(each) for each in saved], "problems": problems}


def report_page(saved: SavedReport) -> dict[str, Any]:
    """Return one report without its cases."""
    sets = [_set(each, data) for each, data in zip(saved.report.sets, saved.data["sets"], strict=True)]
    return {"summary": summary(saved), "about": dict(saved.report.about), "sets": sets}


def cases_page(
    reports: Reports,
    report: str,
    *,
    name: str = "",
    mode: str = "",
    metric: str = "",
    other: str = "",
    other_mode: str = "",
    order: str = "worst",
    k: int = 50,
    offset: int = 0,
) -> dict[str, Any]:
    """Return a page of the cases of one row, each beside the same case of another row if one is named."""
    saved = reports.get(report)
    each = _find_set(saved, name)
    row = _find_row(each, mode)
    metrics = list(row.cases[0].values) if row.cases else []
    metric = metric or each.metric
    if row.cases and metric not in metrics:
        raise NotFound(f"{metric} is not stored for every case; there are {', '.join(metrics)}")
    others: dict[str, CaseResult] = {}
    if other or other_mode:
        other_set = _find_set(reports.get(other) if other else saved, each.dataset.name)
        others = {case.id: case for case in _find_row(other_set, other_mode).cases}
    cases = sorted(
        (_case(case, metric, others.get(case.id)) for case in row.cases),
        key=lambda case: _sort_key(order, case),
    )
    return {
        "report": saved.id,
        "set": each.dataset.name,
        "mode": row.mode,
        "metric": metric,
        "metrics": metrics,
        "total": len(cases),
        "offset": offset,
        "more": len(cases) > offset + k,
        "cases": cases[offset : offset + k],
    }


def _set(each: SetReport, data: Mapping[str, Any]) -> dict[str, Any]:
    best, base = each.best, each.baseline
    return {
        **{name: getattr(each.dataset, name) for name in _COPIED},
        "notes": list(each.dataset.notes),
        "against": base.mode if base else "",
        "best": best.mode if best else "",
        "rows": [{**figures(row), "difference": row["difference"]} for row in data["rows"]],
    }


def _find_set(saved: SavedReport, name: str) -> SetReport:
    sets = saved.report.sets
    for each in sets:
        if not name or each.dataset.name == name:
            return each
    known = ", ".join(each.dataset.name for each in sets)
    raise NotFound(f"{saved.name} has no set {name!r}; there are {known}")


def _find_row(each: SetReport, mode: str) -> Result:
    row = each.row(mode) if mode else each.baseline
    if row is None:
        known = ", ".join(row.mode for row in each.results)
        raise NotFound(f"{each.dataset.name} has no row {mode!r}; there are {known}")
    return row


def _case(case: CaseResult, metric: str, other: CaseResult | None) -> dict[str, Any]:
    return {
        "id": case.id,
        "query": case.query,
        "value": case.values[metric],
        "values": dict(case.values),
        "rank": first_rank(case),
        "found": list(case.found),
        "relevant": list(case.relevant),
        "other": {"value": other.values.get(metric), "rank": first_rank(other)} if other else None,
    }


def _sort_key(order: str, case: Mapping[str, Any]) -> tuple[float, str]:
    value, other = case["value"], case["other"]
    gain = value - other["value"] if other and other["value"] is not None else 0.0
    keys = {"worst": value, "best": -value, "lost": gain, "won": -gain, "name": 0.0}
    return keys[order], case["id"]
