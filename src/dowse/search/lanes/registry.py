"""The lanes by name: where their functions are, and what they need."""

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

    function: str  # "module:name"; named, so that nothing is loaded before it is needed
    wants_encoder: bool = False
    # A question to ask once at the start, so that the first real one finds everything loaded.
    warm_up: Mapping[str, object] | None = None

    def load(self) -> Callable[..., Any]:
        """Import the function."""
        module, _, name = self.function.partition(":")
        function: Callable[..., Any] = getattr(import_module(module), name)
        return function

    def call(self, reader: Reader, encoder: Encoder | None, arguments: Mapping[str, object]) -> LaneResult:
        """Run the lane."""
        first = (reader, encoder) if self.wants_encoder else (reader,)
        found: LaneResult = self.load()(*first, **arguments)
        return found


LANES: Mapping[str, Lane] = {
    "keyword": Lane(
        "dowse.search.lanes.bm25:keyword_lane",
        warm_up={"text": "a", "limit": 1, "relax_below": 0, "fuzziness": "0", "field_weights": {"name": 1.0}},
    ),
    # Without words nothing is counted: that is done before the lane is asked, and may take long.
    "tfidf": Lane("dowse.search.lanes.tfidf:tfidf_lane", warm_up={"text": "", "limit": 1}),
    "embedding": Lane(
        "dowse.search.lanes.dense:embedding_lane", wants_encoder=True, warm_up={"text": "a", "limit": 1}
    ),
    "graph": Lane(
        "dowse.search.lanes.graph:graph_query_lane",
        warm_up={"seeds": (), "limit": 1},
    ),
}
