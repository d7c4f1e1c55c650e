"""`/api/feedback`: record what was chosen, show it, forget it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from dowse.errors import DowseError
from dowse.feedback.events import Event
from dowse.feedback.store import FeedbackCount
from dowse.interfaces.http.models.feedback import Choice, FeedbackAnswer, Forgotten, Recorded
from dowse.interfaces.http.problems import FeedbackOff
from dowse.interfaces.http.routes.parameters import IndexName
from dowse.interfaces.http.state import ServerState, State
from dowse.services.indexes import Place
from dowse.symbol_lookup import UnknownName

router = APIRouter()
_Question = Annotated[str | None, Query(max_length=2_000, description="Only of this question.")]


@router.post(
    "/feedback",
    operation_id="recordFeedback",
    response_model=Recorded,
    status_code=201,
    summary="Record a choice",
)
async def record(state: State, choice: Choice) -> dict[str, Any]:
    """Keep what somebody chose for a question, on the server's machine and nowhere else."""
    return await state.workers.run(lambda: _record(state, choice))


@router.get(
    "/feedback", operation_id="listFeedback", response_model=FeedbackAnswer, summary="What was chosen"
)
async def listed(
    state: State,
    query: _Question = None,
    index: IndexName = None,
    k: Annotated[int, Query(ge=1, le=500, description="How many symbols.")] = 100,
) -> dict[str, Any]:
    """Say what was chosen for which question, and how often."""
    return await state.workers.run(lambda: _listed(state, query, index, k))


@router.delete(
    "/feedback", operation_id="resetFeedback", response_model=Forgotten, summary="Forget what was chosen"
)
async def reset(
    state: State,
    query: _Question = None,
    symbol: Annotated[str | None, Query(max_length=200, description="Only of this symbol.")] = None,
    visitor: Annotated[str | None, Query(max_length=100, description="Only of this visitor.")] = None,
    index: IndexName = None,
) -> dict[str, Any]:
    """Forget all choices, or those of a question, a symbol or a visitor."""
    places = state.places.chosen(index)
    removed = await state.workers.run(lambda: sum(_forget(place, query, symbol, visitor) for place in places))
    return {"removed": removed}


def _forget(place: Place, query: str | None, symbol: str | None, visitor: str | None) -> int:
    removed = place.index.feedback.reset(query, symbol=symbol, visitor=visitor)
    place.questions.refresh()
    return removed


def _record(state: ServerState, choice: Choice) -> dict[str, Any]:
    if choice.index is None and len(state.places) > 1:
        raise DowseError("`index` is missing; several are served here, name the hit's")
    place = state.places.chosen(choice.index)[0]
    if not state.records(place):
        raise FeedbackOff("feedback is off here; start `dowse serve` without --no-feedback to record choices")
    with place.index.backend.reader() as reader:
        if place.names.row_of(reader, choice.symbol) is None:
            raise UnknownName(f"{place.name} has no symbol {choice.symbol}; send the id of a hit")
    kept = place.index.feedback.record(
        Event(choice.query, choice.symbol, choice.kind, choice.visitor, choice.rank)
    )
    place.questions.refresh()
    state.metrics.recorded(kept.kind)
    return {"index": place.name, **kept._asdict()}


def _listed(state: ServerState, query: str | None, index: str | None, k: int) -> dict[str, Any]:
    places = state.places.chosen(index)
    counted = [(place, count) for place in places for count in place.index.feedback.counts(query)]
    counted.sort(key=lambda each: (-each[1].chosen, -each[1].last))
    return {
        "enabled": any(state.records(place) for place in places),
        "place": [str(place.index.feedback.path) for place in places],
        "total": len(counted),
        "chosen": [_told(place, count) for place, count in counted[:k]],
    }


def _told(place: Place, count: FeedbackCount) -> dict[str, Any]:
    """Return a count with the name of its symbol, where that is still there."""
    row = None
    if place.index.exists:
        with place.index.backend.reader() as reader:
            row = place.names.row_of(reader, count.symbol)
    return {
        "index": place.name,
        "name": row.qualified_name if row else "",
        "path": f"{row.path}:{row.start_line}" if row else "",
        **count._asdict(),
    }
