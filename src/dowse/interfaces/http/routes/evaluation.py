"""`GET /api/eval…`: evaluation reports, shipped with dowse and the user's own."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query

from dowse.interfaces.http.state import State
from dowse.services.models.evaluation import EvalCases, EvalReport, Evals
from dowse.services.report_pages import cases_page, list_reports, report_page

router = APIRouter()
_ReportId = Annotated[str, Path(max_length=200, description="An id that `/api/eval` lists.")]
_Row = Annotated[str, Query(max_length=200)]


@router.get("/eval", operation_id="evals", response_model=Evals, summary="All reports")
async def evals(state: State) -> dict[str, Any]:
    """List the reports, each with the mean metrics of every row."""
    return await state.threads.run(lambda: list_reports(state.reports))


@router.get("/eval/{report}", operation_id="evalReport", response_model=EvalReport, summary="One report")
async def eval_report(state: State, report: _ReportId) -> dict[str, Any]:
    """Return every set of a report, with the metrics of every row."""
    return await state.threads.run(lambda: report_page(state.reports.get(report)))


@router.get(
    "/eval/{report}/cases", operation_id="evalCases", response_model=EvalCases, summary="Cases of a report"
)
async def eval_cases(
    state: State,
    report: _ReportId,
    name: Annotated[
        str, Query(alias="set", max_length=500, description="The set; by default the first.")
    ] = "",
    mode: Annotated[_Row, Query(description="The row; by default the baseline.")] = "",
    metric: Annotated[_Row, Query(description="By default the set's headline metric.")] = "",
    other: Annotated[_Row, Query(description="A report to compare with, of the same set.")] = "",
    other_mode: Annotated[_Row, Query(description="The row to compare with.")] = "",
    order: Annotated[
        Literal["worst", "best", "lost", "won", "name"],
        Query(description="lost and won sort by the difference from the other row."),
    ] = "worst",
    k: Annotated[int, Query(ge=1, le=200, description="Number of cases.")] = 50,
    offset: Annotated[int, Query(ge=0, description="Cases to skip.")] = 0,
) -> dict[str, Any]:
    """List the cases of one row, beside another row of this or another report."""
    return await state.threads.run(
        lambda: cases_page(
            state.reports,
            report,
            name=name,
            mode=mode,
            metric=metric,
            other=other,
            other_mode=other_mode,
            order=order,
            k=k,
            offset=offset,
        )
    )
