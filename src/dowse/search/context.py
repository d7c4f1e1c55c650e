"""The values that travel along the pipeline: what every step knows of a query, and what each step returns."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from dowse.config import Settings
from dowse.lazy_classes import dataclass, field
from dowse.search.exact import ExactMatches
from dowse.search.lanes.jobs import Outcome
from dowse.search.options import SearchRequest
from dowse.search.planner import Plan
from dowse.search.ranking.profile import Profile
from dowse.search.ranking.question_kinds import asks_for_change, profile_for_question
from dowse.search.ranking.signals import QueryFeatures, RankedHit
from dowse.storage.protocol import KeywordRequest, Reader
from dowse.types import EmbeddingCoverage, LaneScore, Note, StageTime

if TYPE_CHECKING:
    from dowse.encoders.encoder import Encoder
    from dowse.search.frames import LocatedHit
    from dowse.search.ranking.fusion import QueryTerms
    from dowse.types import Boost


class Stages:
    """The times of the stages of one search, one after another."""

    def __init__(self) -> None:
        self._milliseconds: dict[str, float] = {}
        self._began = time.perf_counter()

    def end(self, stage: str) -> None:
        """Count the time since the last stage ended; one that runs again adds to its time."""
        now = time.perf_counter()
        self._milliseconds[stage] = self._milliseconds.get(stage, 0.0) + 1000 * (now - self._began)
        self._began = now

    def times(self) -> tuple[StageTime, ...]:
        """Return the time of each stage that there was, in their order."""
        return tuple(StageTime(*each) for each in self._milliseconds.items())


@dataclass(frozen=True)
class SearchContext:
    """What every step of the pipeline knows of a query."""

    reader: Reader  # one generation of the index
    request: SearchRequest
    plan: Plan
    settings: Settings
    profile: Profile
    matches: ExactMatches  # of the phrases and regexes in the query
    features: QueryFeatures
    encoder: Encoder | None = None
    boosts: Mapping[str, Boost] = field(default_factory=dict)  # from feedback, by symbol id
    embedded: EmbeddingCoverage | None = None  # None where no encoder is in use
    exact_until: float = math.inf  # of `time.monotonic`: until then matches of patterns are marked
    stages: Stages = field(default_factory=Stages)

    @cached_property
    def question_profile(self) -> Profile:
        """The weights for this kind of question."""
        return profile_for_question(self.profile, self.plan.question)

    @property
    def asks_for_change(self) -> bool:
        """Whether this is most likely a request for a change to a repository, which history teaches."""
        return bool(self.profile.kinds) and asks_for_change(self.plan.question)

    @cached_property
    def exact_rows(self) -> dict[object, frozenset[int]]:
        """The rows of the symbols that match each pattern."""
        return {leaf: frozenset(row for _, row in symbols) for leaf, symbols in self.matches.items()}

    @cached_property
    def allowed_rows(self) -> frozenset[int]:
        """Every symbol that meets the filters."""
        request = KeywordRequest((), {}, self.plan.constraint, self.exact_rows)
        return frozenset(
            row for row, _ in self.reader.search_bm25(request, max(1, self.reader.symbol_count()))
        )

    def rows_without_vector(self, rows: Sequence[int]) -> frozenset[int]:
        """Return those of some symbols that have no vector in a local index; a cluster is not asked."""
        is_partial = self.embedded is not None and self.embedded.symbols < self.embedded.total
        if self.encoder is None or not is_partial or self.reader.cache_folder is None:
            return frozenset()
        return frozenset(row for row, _ in self.reader.without_vector(self.encoder.id, rows))

    def allows(self, row: int) -> bool:
        """Whether a symbol meets the filters."""
        return self.plan.constraint is None or row in self.allowed_rows


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the lanes returned for a query text."""

    text: str  # the words to rank by, expanded or not
    outcomes: Sequence[Outcome]
    expansion: tuple[str, ...] = ()  # terms that were added to the query
    notes: tuple[Note, ...] = ()
    term_weights: Mapping[str, float] = field(default_factory=dict)  # of the terms of a long text


@dataclass(frozen=True, slots=True)
class Ranking:
    """One ranking of all candidates, with their rank and score in each lane."""

    hits: list[RankedHit]
    terms: QueryTerms
    fusion: str = ""  # how the lanes were fused; "" where one answered alone
    lane_scores: Mapping[int, Sequence[LaneScore]] = field(default_factory=dict)  # by row
    located: Sequence[LocatedHit] = ()  # what a pasted stack trace or error message points to

    def lanes_of(self, hit: RankedHit) -> Sequence[LaneScore]:
        """Return the rank and score of a hit in each lane that returned it."""
        return self.lane_scores.get(hit.row.row, ())

    def is_from(self, hit: RankedHit, lane: str) -> bool:
        """Whether a lane returned a hit."""
        return any(each.lane == lane for each in self.lanes_of(hit))
