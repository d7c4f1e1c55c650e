"""The registry of lanes: the function of each, and what it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from dowse.encoders.encoder import Encoder
    from dowse.search.lanes.jobs import LaneResult
    from dowse.storage.protocol import Reader


class Lane(NamedTuple):
    """A lane; its function is called with a reader, with the encoder if it wants one, and with arguments."""

    function: str  # "module:name", imported when it is first needed
    wants_encoder: bool = False
    # The arguments of one call at the start, so that the first request finds everything loaded.
    warm_up: Mapping[str, object] | None = None

    def load(self) -> Callable[..., Any]:
        """Import the function."""
        module, _, name = self.function.partition(":")
        function: Callable[..., Any] = getattr(import_module(module), name)
        return function

    def call(self, reader: Reader, encoder: Encoder | None, arguments: Mapping[str, object]) -> LaneResult:
        """Run the lane."""
        first = (reader, encoder) if self.wants_encoder else (reader,)
        result: LaneResult = self.load()(*first, **arguments)
        return result


LANES: Mapping[str, Lane] = {
    "keyword": Lane(
        "dowse.search.lanes.bm25:keyword_lane",
        warm_up={"text": "a", "limit": 1, "relax_below": 0, "fuzziness": "0", "field_weights": {"name": 1.0}},
    ),
    # Without words nothing is counted: the caller does that before, for it may take long.
    "tfidf": Lane("dowse.search.lanes.tfidf:tfidf_lane", warm_up={"text": "", "limit": 1}),
    "embedding": Lane(
        "dowse.search.lanes.dense:embedding_lane", wants_encoder=True, warm_up={"text": "a", "limit": 1}
    ),
    "graph": Lane("dowse.search.lanes.graph:graph_query_lane", warm_up={"seeds": (), "limit": 1}),
}
