"""`GET /api/v1/eval…`: evaluation reports, shipped with dowse and the user's own."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from dowse.interfaces.http.state import State, in_slow_thread
from dowse.services.reports import (
    CasesQuery,
    EvalCases,
    EvalReport,
    Evals,
    cases_page,
    list_reports,
    report_page,
)
from dowse.services.schemas import model

router = APIRouter(tags=["evaluation"])
_ReportId = Annotated[str, Path(max_length=200, description="An id that `/api/v1/eval` lists.")]


@router.get("/eval", operation_id="evals", response_model=model(Evals), summary="All reports")
@in_slow_thread
def evals(state: State) -> Evals:
    """List the reports, each with the mean metrics of every row."""
    return list_reports(state.reports)


@router.get(
    "/eval/{report}", operation_id="evalReport", response_model=model(EvalReport), summary="One report"
)
@in_slow_thread
def eval_report(state: State, report: _ReportId) -> EvalReport:
    """Return every set of a report, with the metrics of every row."""
    return report_page(state.reports.get(report))


@router.get(
    "/eval/{report}/cases",
    operation_id="evalCases",
    response_model=model(EvalCases),
    summary="Cases of a report",
)
@in_slow_thread
def eval_cases(state: State, report: _ReportId, query: Annotated[CasesQuery, Query()]) -> EvalCases:
    """List the cases of one row, beside another row of this or another report."""
    return cases_page(state.reports, report, query)
