"""What the embedding lane returns besides rows and scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowse.lazy_classes import dataclass, field
from dowse.search.lanes.jobs import LaneResult

if TYPE_CHECKING:
    from dowse.search.lanes.query_time_encoding import QueryTimeVectors


@dataclass(frozen=True, slots=True)
class EmbeddingResult(LaneResult):
    """The candidates, and the vectors among theirs that the index does not have yet."""

    query_time: QueryTimeVectors | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class AdaptedResult(EmbeddingResult):
    """The candidates of an adapted query."""

    plain_scores: tuple[float, ...] = ()  # the cosines with the query as it was, which confidence knows
    is_damaged: bool = False  # the adapter, which is not used then
