"""`GET /api/v1/search`, its default `/api/v1/options`, and `/api/v1/suggest`: suggestions while one types."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import ConfigDict, create_model

from dowse.answer import Answer
from dowse.errors import DowseError
from dowse.interfaces.http.state import IndexName, ServerState, State
from dowse.json_form import document, to_json
from dowse.lazy_classes import asdict
from dowse.search.options import OPTIONS, make_options
from dowse.services.errors import Busy
from dowse.services.indexes import ServedIndex
from dowse.services.merge import LOOKAHEAD, IndexResult, SearchPage, merge_answers
from dowse.services.option_types import option_default, option_type
from dowse.services.schemas import document_model, model
from dowse.services.search_cost import may_be_slow
from dowse.services.suggest import Suggestions
from dowse.services.suggest import suggest as make_suggestions
from dowse.services.thread_pool import BoundedThreadPool
from dowse.services.web.request_id import current_request, keep_request

router = APIRouter(tags=["search"])
# Longer texts are no queries; the query language takes some thousands of characters.
_MAX_QUERY = 10_000
# The end of pagination: deeper hits are not worth their cost.
MAX_HITS = 1_000


def _search_options(**options: Any) -> dict[str, Any]:  # noqa: ANN401 - options have several types
    """Return the search options of a request; FastAPI reads the parameters off the signature."""
    return options


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
setattr(_search_options, "__signature__", _PARAMETERS)  # noqa: B010 - functions have no such attribute to mypy

_DEFAULTS: dict[str, Any] = {
    spec.name: (option_type(spec) | None, ...) for spec in OPTIONS.values() if spec.in_http
}
_SearchDefaults = create_model(
    "SearchDefaults",
    __config__=ConfigDict(extra="forbid"),
    __doc__="The options of a search that gives none; null where the settings of the indexes differ.",
    **_DEFAULTS,
)


@router.get("/options", operation_id="options", response_model=_SearchDefaults, summary="Default options")
async def default_options(state: State, index: IndexName = None) -> dict[str, Any]:
    """Return the value of each option that a search has if it does not give one."""
    every = [_defaults(state, served) for served in state.indexes.select(index)]
    return {
        name: every[0][name] if all(each[name] == every[0][name] for each in every) else None
        for name in _DEFAULTS
    }


def _defaults(state: ServerState, served: ServedIndex) -> dict[str, Any]:
    options = asdict(make_options(served.index.settings))
    return {**options, "lanes": ",".join(options["lanes"]), "feedback": state.records_feedback(served)}


@router.get("/search", operation_id="search", response_model=document_model(SearchPage), summary="Search")
async def search(
    state: State,
    options: Annotated[dict[str, Any], Depends(_search_options)],
    q: Annotated[str, Query(max_length=_MAX_QUERY, description="The query; see docs/QUERY.md.")],
    index: IndexName = None,
    k: Annotated[int, Query(ge=1, le=100, description="How many hits.")] = 10,
    offset: Annotated[int, Query(ge=0, le=MAX_HITS - 100, description="Hits to leave out.")] = 0,
) -> dict[str, Any]:
    """Search one index, or all of them; hits are ranked, a page at a time."""
    started = time.perf_counter()
    selected = state.indexes.select(index)
    # One more hit tells whether there is another page; merging several indexes needs a few more.
    depth = offset + k + (LOOKAHEAD if len(selected) > 1 else 1)

    @keep_request
    def run(served: ServedIndex) -> Answer:
        feedback = options["feedback"] is not False and state.records_feedback(served)
        page_size = options["page_size"] or k
        return served.index.search(
            q, embed=False, **{**options, "k": depth, "page_size": page_size, "feedback": feedback}
        )

    pool = state.slow_threads if may_be_slow(q, options) else state.threads
    results = await asyncio.gather(*[_search(state, pool, served, run) for served in selected])
    if results[0].error and all(each.error for each in results):
        raise results[0].error
    return document(merge_answers(q, results, offset, k, 1000 * (time.perf_counter() - started)))


async def _search(
    state: ServerState, pool: BoundedThreadPool, served: ServedIndex, run: Callable[[ServedIndex], Answer]
) -> IndexResult:
    """Search one index; one that fails is left out if others can answer."""
    try:
        answer = await pool.run(lambda: run(served))
    except Busy:
        raise
    except DowseError as error:
        return IndexResult(served.name, None, error)
    finally:
        state.engine.refresh_if_due(served)
    state.metrics.searched(answer)
    if (request := current_request()) is not None:
        request.generations[served.name] = answer.generation
    return IndexResult(served.name, answer)


@router.get("/suggest", operation_id="suggest", response_model=model(Suggestions), summary="Suggestions")
async def suggest(
    state: State,
    q: Annotated[str, Query(max_length=1_000, description="The query so far.")] = "",
    index: IndexName = None,
    k: Annotated[int, Query(ge=1, le=20, description="Number of suggestions.")] = 8,
) -> dict[str, Any]:
    """Suggest symbol names, past queries and filters; all from memory, so it answers at once."""
    started = time.perf_counter()
    selected = state.indexes.select(index)
    tables = [(served.name, table) for served in selected if (table := served.names.cached())]
    past = [
        each for served in selected if state.records_feedback(served) for each in served.past_queries.cached()
    ]
    suggestions = make_suggestions(q, tables, past, k)
    answer: dict[str, Any] = to_json(Suggestions(q, suggestions, 1000 * (time.perf_counter() - started)))
    return answer
