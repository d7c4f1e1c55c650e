"""The response of a search: a sequence of hits, which notebooks show and data frames take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from dowse.errors import DowseError
from dowse.json_form import json_form, to_json
from dowse.lazy_classes import dataclass, field
from dowse.types import EmbeddingCoverage, Hit, LaneReport, Note, PlanReport, StageTime

if TYPE_CHECKING:
    from pandas import DataFrame


@json_form(hidden=("words", "stages"), renamed={"total_candidates": "candidates"})
@dataclass(frozen=True, slots=True)
class Answer(Sequence[Hit]):
    """The response of a search: the hits and how they were found."""

    query: str
    mode: str
    hits: tuple[Hit, ...]
    total_candidates: int
    generation: int
    notes: tuple[Note, ...] = field(default=())  # what was relaxed, left out, incomplete
    embedded: EmbeddingCoverage | None = None  # None where no encoder is in use
    plan: PlanReport | None = None
    lanes: tuple[LaneReport, ...] = field(default=(), compare=False)  # with times, which differ
    stages: tuple[StageTime, ...] = field(default=(), compare=False)  # in their order
    words: tuple[str, ...] = ()  # of the query, with those of phrases, misspelt ones corrected

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    @overload
    def __getitem__(self, at: int) -> Hit: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, at: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[at]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary a hit, as in the JSON form (docs/JSON.md)."""
        return [to_json(hit) for hit in self.hits]

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame with one row a hit and the columns of `to_dicts`, best first."""
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise DowseError("to_frame() needs pandas: pip install pandas") from error
        return DataFrame(self.to_dicts())

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the lines of each hit that tell most, and why it was found."""
        from dowse.formats.html import answer_html

        return answer_html(self)
