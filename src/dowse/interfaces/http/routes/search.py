"""`GET /api/search`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query

from dowse.errors import DowseError
from dowse.interfaces.http.choices import Clustering, Diversify, Fusion, Fuzziness, Mode
from dowse.interfaces.http.models.answer import SearchAnswer
from dowse.interfaces.http.problems import Busy
from dowse.interfaces.http.routes.parameters import MOST_QUERY, IndexName
from dowse.interfaces.http.state import ServerState, State
from dowse.services.filters import filters_text
from dowse.services.indexes import Place
from dowse.services.merge import AHEAD, Told, page
from dowse.types import Answer

router = APIRouter()
# Hits that can be paged through: who has not found it by then asks again.
MOST_HITS = 1_000
_Names = Annotated[list[Annotated[str, Query(max_length=50)]], Query(max_length=20)]
_Globs = Annotated[list[Annotated[str, Query(max_length=500)]], Query(max_length=20)]


@router.get("/search", operation_id="search", response_model=SearchAnswer, summary="Search")
async def search(
    state: State,
    q: Annotated[str, Query(max_length=MOST_QUERY, description="The query; see docs/QUERY.md.")],
    index: IndexName = None,
    k: Annotated[int, Query(ge=1, le=100, description="How many hits.")] = 10,
    offset: Annotated[int, Query(ge=0, le=MOST_HITS - 100, description="Hits to leave out.")] = 0,
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
    """Search one index, or all of them: hits come best first, a page at a time."""
    started = time.perf_counter()
    wanted = filters_text(lang, path, exclude, kind, filters)
    places = state.places.chosen(index)
    # One more tells whether there is another page; several indexes are joined by what comes next, too.
    depth = offset + k + (AHEAD if len(places) > 1 else 1)

    def ask(place: Place) -> Answer:
        return place.index.search(
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
            feedback=feedback is not False and state.records(place),
        )

    told = await asyncio.gather(*[_told(state, place, ask) for place in places])
    if told[0].error and all(each.error for each in told):
        raise told[0].error
    return page(q, told, offset, k, 1000 * (time.perf_counter() - started))


async def _told(state: ServerState, place: Place, ask: Callable[[Place], Answer]) -> Told:
    """Return what one index says; one that can't answer is left out if others can."""
    try:
        answer = await state.workers.run(lambda: ask(place))
    except Busy:
        raise
    except DowseError as error:
        return Told(place.name, None, error)
    finally:
        state.refresher.refresh_if_due(place)
    state.metrics.searched(answer)
    return Told(place.name, answer)
