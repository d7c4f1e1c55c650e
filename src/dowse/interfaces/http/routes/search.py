"""`GET /api/search`: search one index, or several at once."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from dowse.errors import DowseError
from dowse.interfaces.http.routes.parameters import MAX_QUERY, IndexName
from dowse.interfaces.http.state import ServerState, State
from dowse.search.options import OPTIONS
from dowse.services.errors import Busy
from dowse.services.indexes import ServedIndex
from dowse.services.merge import LOOKAHEAD, IndexResult, merge_answers
from dowse.services.models.answer import SearchAnswer
from dowse.services.option_types import option_default, option_type
from dowse.types import Answer

router = APIRouter()
# The end of pagination: deeper hits are not worth their cost.
MAX_HITS = 1_000


def _given_options(**given: Any) -> dict[str, Any]:  # noqa: ANN401 - options have several types
    """Return the search options that a request names; FastAPI reads the parameters off the signature."""
    return given


_PARAMETERS = inspect.Signature(
    [
        inspect.Parameter(
            spec.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=option_default(spec),
            annotation=Annotated[
                option_type(spec) | None if spec.setting else option_type(spec), Query(description=spec.help)
            ],
        )
        for spec in OPTIONS.values()
        if spec.in_http
    ]
)
# FastAPI reads parameters off the signature.
setattr(_given_options, "__signature__", _PARAMETERS)  # noqa: B010 - functions have no such attribute to mypy


@router.get("/search", operation_id="search", response_model=SearchAnswer, summary="Search")
async def search(
    state: State,
    given: Annotated[dict[str, Any], Depends(_given_options)],
    q: Annotated[str, Query(max_length=MAX_QUERY, description="The query; see docs/QUERY.md.")],
    index: IndexName = None,
    k: Annotated[int, Query(ge=1, le=100, description="How many hits.")] = 10,
    offset: Annotated[int, Query(ge=0, le=MAX_HITS - 100, description="Hits to leave out.")] = 0,
) -> dict[str, Any]:
    """Search one index, or all of them; hits are ranked, a page at a time."""
    started = time.perf_counter()
    selected = state.indexes.select(index)
    # One more hit tells whether there is another page; merging several indexes needs a few more.
    depth = offset + k + (LOOKAHEAD if len(selected) > 1 else 1)

    def run(served: ServedIndex) -> Answer:
        feedback = given["feedback"] is not False and state.records_feedback(served)
        page_size = given["page_size"] or k
        return served.index.search(q, **{**given, "k": depth, "page_size": page_size, "feedback": feedback})

    results = await asyncio.gather(*[_search(state, served, run) for served in selected])
    if results[0].error and all(each.error for each in results):
        raise results[0].error
    return merge_answers(q, results, offset, k, 1000 * (time.perf_counter() - started))


async def _search(
    state: ServerState, served: ServedIndex, run: Callable[[ServedIndex], Answer]
) -> IndexResult:
    """Search one index; one that fails is left out if others can answer."""
    try:
        answer = await state.threads.run(lambda: run(served))
    except Busy:
        raise
    except DowseError as error:
        return IndexResult(served.name, None, error)
    finally:
        state.refresher.refresh_if_due(served)
    state.metrics.searched(answer)
    return IndexResult(served.name, answer)
