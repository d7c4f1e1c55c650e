"""`GET /api/eval…`: what was measured, by the makers and by whoever runs this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query

from dowse.eval.reports.model import SetReport, first_rank
from dowse.eval.types import CaseResult, Result
from dowse.interfaces.http.models.evaluation import EvalCases, EvalReport, Evals
from dowse.interfaces.http.problems import NotFound
from dowse.interfaces.http.state import State
from dowse.services.reports import Reports, Saved, figures, summary

router = APIRouter()
_ReportId = Annotated[str, Path(max_length=200, description="As `/api/eval` names it.")]
_Row = Annotated[str, Query(max_length=200)]
_COPIED = ("name", "level", "metric", "half", "cases", "strip_docs", "graded", "index", "notes")


@router.get("/eval", operation_id="evals", response_model=Evals, summary="All reports")
async def evals(state: State) -> dict[str, Any]:
    """List the reports at hand, each with the means of every way of searching."""
    return await state.workers.run(lambda: _all(state.reports))


@router.get("/eval/{report}", operation_id="evalReport", response_model=EvalReport, summary="One report")
async def eval_report(state: State, report: _ReportId) -> dict[str, Any]:
    """Give every set of a report, and how every way of searching did on it."""
    return await state.workers.run(lambda: _in_full(state.reports.get(report)))


@router.get(
    "/eval/{report}/cases", operation_id="evalCases", response_model=EvalCases, summary="Its questions"
)
async def eval_cases(
    state: State,
    report: _ReportId,
    name: Annotated[
        str, Query(alias="set", max_length=500, description="The set; by default the first.")
    ] = "",
    mode: Annotated[_Row, Query(description="The way of searching; by default the one compared with.")] = "",
    metric: Annotated[_Row, Query(description="By default the set's headline.")] = "",
    other: Annotated[_Row, Query(description="A report to compare with, of the same questions.")] = "",
    other_mode: Annotated[_Row, Query(description="The row to compare with.")] = "",
    order: Annotated[
        Literal["worst", "best", "lost", "won", "name"],
        Query(description="lost and won go by the difference from the other row."),
    ] = "worst",
    k: Annotated[int, Query(ge=1, le=200, description="How many questions.")] = 50,
    offset: Annotated[int, Query(ge=0, description="Questions to leave out.")] = 0,
) -> dict[str, Any]:
    """List the questions of one row, beside another row of this or another report."""
    return await state.workers.run(
        lambda: _cases(state.reports, report, name, mode, metric, (other, other_mode), order, k, offset)
    )


def _all(reports: Reports) -> dict[str, Any]:
    saved, problems = reports.all()
    return {"reports": [summary(each) for each in saved], "problems": problems}


def _in_full(saved: Saved) -> dict[str, Any]:
    pairs = zip(saved.report.sets, saved.data["sets"], strict=True)
    sets = [_set(each, data) for each, data in pairs]
    return {"summary": summary(saved), "about": dict(saved.report.about), "sets": sets}


def _set(each: SetReport, data: Mapping[str, Any]) -> dict[str, Any]:
    facts = {name: getattr(each.dataset, name) for name in _COPIED}
    best, base = each.best, each.baseline
    return {
        **facts,
        "notes": list(each.dataset.notes),
        "against": base.mode if base else "",
        "best": best.mode if best else "",
        "rows": [{**figures(row), "difference": row["difference"]} for row in data["rows"]],
    }


def _cases(
    reports: Reports,
    report: str,
    name: str,
    mode: str,
    metric: str,
    other: tuple[str, str],
    order: str,
    k: int,
    offset: int,
) -> dict[str, Any]:
    saved = reports.get(report)
    each = _named_set(saved, name)
    row = _named_row(each, mode)
    metrics = list(row.cases[0].values) if row.cases else []
    metric = metric or each.metric
    if row.cases and metric not in metrics:
        raise NotFound(f"{metric} is not kept of every question; there are {', '.join(metrics)}")
    beside: dict[str, CaseResult] = {}
    if any(other):
        there = _named_set(reports.get(other[0]) if other[0] else saved, each.dataset.name)
        beside = {case.id: case for case in _named_row(there, other[1]).cases}
    cases = [
        _case(case, metric, beside.get(case.id) if any(other) else None, any(other)) for case in row.cases
    ]
    cases.sort(key=lambda case: _order(order, case))
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


def _named_set(saved: Saved, name: str) -> SetReport:
    sets = saved.report.sets
    found = next((each for each in sets if not name or each.dataset.name == name), None)
    if found is None:
        known = ", ".join(each.dataset.name for each in sets)
        raise NotFound(f"{saved.name} has no set {name!r}; there are {known}")
    return found


def _named_row(each: SetReport, mode: str) -> Result:
    found = each.row(mode) if mode else each.baseline
    if found is None:
        known = ", ".join(row.mode for row in each.results)
        raise NotFound(f"{each.dataset.name} has no row {mode!r}; there are {known}")
    return found


def _case(case: CaseResult, metric: str, beside: CaseResult | None, compared: bool) -> dict[str, Any]:
    other = {"value": beside.values.get(metric), "rank": first_rank(beside)} if beside else None
    return {
        "id": case.id,
        "query": case.query,
        "value": case.values[metric],
        "values": dict(case.values),
        "rank": first_rank(case),
        "found": list(case.found),
        "relevant": list(case.relevant),
        "other": other if compared else None,
    }


def _order(order: str, case: Mapping[str, Any]) -> tuple[float, str]:
    """Return what puts questions in order."""
    value, other = case["value"], case["other"]
    gained = value - other["value"] if other and other["value"] is not None else 0.0
    keys = {"worst": value, "best": -value, "lost": gained, "won": -gained, "name": 0.0}
    return keys[order], case["id"]
