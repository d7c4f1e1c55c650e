"""`/api/feedback`: record feedback events, list and delete them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from dowse.errors import DowseError
from dowse.feedback.events import Event
from dowse.feedback.store import FeedbackCount as StoredCount
from dowse.interfaces.http.problems import FeedbackOff
from dowse.interfaces.http.state import IndexName, State, in_thread
from dowse.services.indexes import ServedIndex
from dowse.services.models.feedback import FeedbackAnswer, FeedbackRequest, FeedbackReset, RecordedEvent
from dowse.symbol_lookup import UnknownName

router = APIRouter()
_QueryText = Annotated[str | None, Query(max_length=2_000, description="Only for this query.")]


@router.post(
    "/feedback",
    operation_id="recordFeedback",
    response_model=RecordedEvent,
    status_code=201,
    summary="Record an event",
)
@in_thread
def record(state: State, event: FeedbackRequest) -> dict[str, Any]:
    """Record a feedback event, on the server's machine and nowhere else."""
    if event.index is None and len(state.indexes) > 1:
        raise DowseError("`index` is missing; several are served here, name the hit's")
    served = state.indexes.select(event.index)[0]
    if not state.records_feedback(served):
        raise FeedbackOff("feedback is off; start `dowse serve` without --no-feedback to record it")
    with served.index.backend.reader() as reader:
        if served.names.find_symbol(reader, event.symbol) is None:
            raise UnknownName(f"{served.name} has no symbol {event.symbol}; send the id of a hit")
    recorded = served.index.feedback.record(
        Event(event.query, event.symbol, event.kind, event.visitor, event.rank)
    )
    served.past_queries.refresh()
    state.metrics.recorded(recorded.kind)
    return {"index": served.name, **recorded._asdict()}


@router.get("/feedback", operation_id="listFeedback", response_model=FeedbackAnswer, summary="List feedback")
@in_thread
def list_feedback(
    state: State,
    query: _QueryText = None,
    index: IndexName = None,
    k: Annotated[int, Query(ge=1, le=500, description="Number of symbols.")] = 100,
) -> dict[str, Any]:
    """List which symbols were chosen for which query, and how often."""
    selected = state.indexes.select(index)
    counts = [(served, count) for served in selected for count in served.index.feedback.counts(query)]
    counts.sort(key=lambda each: (-each[1].chosen, -each[1].last))
    return {
        "enabled": any(state.records_feedback(served) for served in selected),
        "files": [str(served.index.feedback.path) for served in selected],
        "total": len(counts),
        "chosen": [_count_to_json(served, count) for served, count in counts[:k]],
    }


@router.delete(
    "/feedback", operation_id="resetFeedback", response_model=FeedbackReset, summary="Delete feedback"
)
@in_thread
def reset(
    state: State,
    query: _QueryText = None,
    symbol: Annotated[str | None, Query(max_length=200, description="Only of this symbol.")] = None,
    visitor: Annotated[str | None, Query(max_length=100, description="Only of this visitor.")] = None,
    index: IndexName = None,
) -> dict[str, Any]:
    """Delete all feedback, or that for a query, for a symbol or of a visitor."""
    removed = 0
    for served in state.indexes.select(index):
        removed += served.index.feedback.reset(query, symbol=symbol, visitor=visitor)
        served.past_queries.refresh()
    return {"removed": removed}


def _count_to_json(served: ServedIndex, count: StoredCount) -> dict[str, Any]:
    """Return a count with the name of its symbol, if that is still in the index."""
    row = None
    if served.index.exists:
        with served.index.backend.reader() as reader:
            row = served.names.find_symbol(reader, count.symbol)
    return {
        "index": served.name,
        "name": row.qualified_name if row else "",
        "path": f"{row.path}:{row.start_line}" if row else "",
        **count._asdict(),
    }
