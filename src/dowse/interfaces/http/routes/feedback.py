"""`/api/v1/feedback`: record feedback events, list and delete them."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from dowse.errors import DowseError
from dowse.feedback.events import Event
from dowse.feedback.store import FeedbackCount
from dowse.interfaces.http.problems import FeedbackOff
from dowse.interfaces.http.state import IndexName, State, in_thread
from dowse.json_form import json_form
from dowse.lazy_classes import dataclass
from dowse.services.indexes import ServedIndex
from dowse.services.schemas import model
from dowse.symbol_lookup import UnknownName

router = APIRouter(tags=["feedback"])


class FeedbackRequest(BaseModel):
    """One event to record."""

    model_config = ConfigDict(extra="forbid", strict=True)

    index: str | None = Field(default=None, max_length=200, description="Not needed where there is only one.")
    query: str = Field(min_length=1, max_length=2_000, description="The query as it was typed.")
    symbol: str = Field(min_length=1, max_length=200, description="The id of the symbol.")
    kind: Literal["click", "copy", "open", "up", "down"]
    rank: int = Field(default=0, ge=0, le=10_000, description="The rank of the hit, from 1; 0 if unknown.")
    visitor: str = Field(
        min_length=1,
        max_length=100,
        description="A random name that the page stores; nothing else identifies a visitor.",
    )


@json_form(inline=("event",))
@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event as it was recorded."""

    index: str
    event: Event


@json_form(inline=("count",))
@dataclass(frozen=True, slots=True)
class ChosenSymbol:
    """The feedback for one symbol and one query."""

    index: str
    name: str  # the qualified name; "" if it is no longer in the index
    path: str
    count: FeedbackCount


@dataclass(frozen=True, slots=True)
class FeedbackAnswer:
    """All feedback, counted."""

    enabled: bool  # whether feedback is recorded and affects rankings
    files: list[str]  # on the server's machine that hold it
    total: int
    chosen: list[ChosenSymbol]  # most chosen first


@dataclass(frozen=True, slots=True)
class FeedbackReset:
    """How many events were deleted."""

    removed: int


_QueryText = Annotated[str | None, Query(max_length=2_000, description="Only for this query.")]


@router.post(
    "/feedback",
    operation_id="recordFeedback",
    response_model=model(RecordedEvent),
    status_code=201,
    summary="Record an event",
)
@in_thread
def record(state: State, event: FeedbackRequest) -> RecordedEvent:
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
    return RecordedEvent(served.name, recorded)


@router.get(
    "/feedback", operation_id="listFeedback", response_model=model(FeedbackAnswer), summary="List feedback"
)
@in_thread
def list_feedback(
    state: State,
    query: _QueryText = None,
    index: IndexName = None,
    k: Annotated[int, Query(ge=1, le=500, description="Number of symbols.")] = 100,
) -> FeedbackAnswer:
    """List which symbols were chosen for which query, and how often."""
    selected = state.indexes.select(index)
    counts = [(served, count) for served in selected for count in served.index.feedback.counts(query)]
    counts.sort(key=lambda each: (-each[1].chosen, -each[1].last))
    return FeedbackAnswer(
        enabled=any(state.records_feedback(served) for served in selected),
        files=[str(served.index.feedback.path) for served in selected],
        total=len(counts),
        chosen=[_chosen(served, count) for served, count in counts[:k]],
    )


@router.delete(
    "/feedback", operation_id="resetFeedback", response_model=model(FeedbackReset), summary="Delete feedback"
)
@in_thread
def reset(
    state: State,
    query: _QueryText = None,
    symbol: Annotated[str | None, Query(max_length=200, description="Only of this symbol.")] = None,
    visitor: Annotated[str | None, Query(max_length=100, description="Only of this visitor.")] = None,
    index: IndexName = None,
) -> FeedbackReset:
    """Delete all feedback, or that for a query, for a symbol or of a visitor."""
    removed = 0
    for served in state.indexes.select(index):
        removed += served.index.feedback.reset(query, symbol=symbol, visitor=visitor)
        served.past_queries.refresh()
    return FeedbackReset(removed)


def _chosen(served: ServedIndex, count: FeedbackCount) -> ChosenSymbol:
    """Return a count with the name of its symbol, if that is still in the index."""
    row = None
    if served.index.exists:
        with served.index.backend.reader() as reader:
            row = served.names.find_symbol(reader, count.symbol)
    path = f"{row.path}:{row.start_line}" if row else ""
    return ChosenSymbol(served.name, row.qualified_name if row else "", path, count)
