"""The embedding lane, dense retrieval: the symbols whose vectors are nearest to the query's."""

from __future__ import annotations

from collections.abc import Mapping

from dowse.encoders.encoder import Encoder
from dowse.query.ast import Constraint
from dowse.search.lanes.jobs import LaneResult, columns
from dowse.storage.protocol import Reader, VectorRequest


def embedding_lane(
    reader: Reader,
    encoder: Encoder,
    text: str,
    *,
    limit: int,
    method: str = "auto",
    constraint: Constraint | None = None,
    exact_rows: Mapping[object, frozenset[int]] | None = None,
) -> LaneResult:
    """Return the nearest neighbours of a text by cosine, among the symbols that meet the filters."""
    if not text.strip():
        return LaneResult((), ())  # filters alone have no vector
    vector = encoder.encode_queries([text])[0]
    request = VectorRequest(encoder.id, vector, method, constraint, exact_rows)
    return LaneResult(*columns(reader.nearest(request, limit)))
