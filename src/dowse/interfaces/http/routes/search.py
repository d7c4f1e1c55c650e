"""`GET /api/search`: search one index, or several at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query

from dowse.errors import DowseError
from dowse.interfaces.http.routes.parameters import MAX_QUERY, IndexName
from dowse.interfaces.http.state import ServerState, State
from dowse.services.choices import Clustering, Diversify, Fusion, Fuzziness, Mode
from dowse.services.errors import Busy
from dowse.services.filters import filters_text
from dowse.services.indexes import ServedIndex
from dowse.services.merge import LOOKAHEAD, IndexResult, merge_answers
from dowse.services.models.answer import SearchAnswer
from dowse.types import Answer

router = APIRouter()
# The end of pagination: deeper hits are not worth their cost.
MAX_HITS = 1_000
_Names = Annotated[list[Annotated[str, Query(max_length=50)]], Query(max_length=20)]
_Globs = Annotated[list[Annotated[str, Query(max_length=500)]], Query(max_length=20)]


@router.get("/search", operation_id="search", response_model=SearchAnswer, summary="Search")
async def search(
    state: State,
    q: Annotated[str, Query(max_length=MAX_QUERY, description="The query; see docs/QUERY.md.")],
    index: IndexName = None,
    k: Annotated[int, Query(ge=1, le=100, description="How many hits.")] = 10,
    offset: Annotated[int, Query(ge=0, le=MAX_HITS - 100, description="Hits to leave out.")] = 0,
    mode: Annotated[Mode, Query(description="auto picks by the query.")] = "auto",
    lanes: Annotated[str, Query(max_length=100, description="Not the plan's: keyword,graph")] = "",
    fusion: Annotated[Fusion | None, Query(description="How lanes' answers become one.")] = None,
    plain: Annotated[bool, Query(description="Take the query as words alone.")] = False,
    filters: Annotated[str, Query(max_length=2_000, description="More of the query language.")] = "",
    lang: Annotated[_Names, Query(description="Only these languages.")] = [],  # noqa: B006 - never changed
    path: Annotated[_Globs, Query(description="Only paths like these.")] = [],  # noqa: B006
    exclude: Annotated[_Globs, Query(description="No paths like these.")] = [],  # noqa: B006
    kind: Annotated[_Names, Query(description="Only these kinds of symbols.")] = [],  # noqa: B006
    explain: Annotated[bool, Query(description="Break keyword scores into fields and terms.")] = False,
    expand: Annotated[bool | None, Query(description="Add terms of the best answers.")] = None,
    graph_expand: Annotated[bool | None, Query(description="Add what the best answers call.")] = None,
    rerank: Annotated[bool | None, Query(description="A second look by a cross-encoder.")] = None,
    diversify: Annotated[Diversify | None, Query(description="Put apart what is alike.")] = None,
    clustering: Annotated[Clustering | None, Query(description="What is alike.")] = None,
    together: Annotated[
        int | None, Query(ge=1, le=100, description="Hits that clusters share out; by default k.")
    ] = None,
    min_score: Annotated[float, Query(ge=0, le=1e6, description="Leave out weaker hits.")] = 0.0,
    fuzziness: Annotated[Fuzziness | None, Query(description="Edits a word may be away.")] = None,
    feedback: Annotated[bool | None, Query(description="Let what was chosen before come first.")] = None,
) -> dict[str, Any]:
    """Search one index, or all of them; hits are ranked, a page at a time."""
    started = time.perf_counter()
    wanted = filters_text(lang, path, exclude, kind, filters)
    selected = state.indexes.select(index)
    # One more hit tells whether there is another page; merging several indexes needs a few more.
    depth = offset + k + (LOOKAHEAD if len(selected) > 1 else 1)

    def run(served: ServedIndex) -> Answer:
        return served.index.search(
            q,
            depth,
            mode,
            plain=plain,
            filters=wanted,
            lanes=lanes,
            fusion=fusion,
            explain=explain,
            fuzziness=fuzziness,
            min_score=min_score,
            expand=expand,
            graph_expand=graph_expand,
            rerank=rerank,
            diversify=diversify,
            clustering=clustering,
            page=together or k,
            feedback=feedback is not False and state.records_feedback(served),
        )

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
