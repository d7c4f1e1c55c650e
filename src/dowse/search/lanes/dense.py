"""The embedding lane, dense retrieval: the symbols whose vectors are nearest to the query's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dowse.encoders.encoder import Encoder
from dowse.query import Constraint
from dowse.storage.protocol import Reader, VectorRequest


@dataclass(frozen=True, slots=True)
class EmbeddingResult:
    """What the lane found: rows and cosines, best first."""

    rows: tuple[int, ...]
    scores: tuple[float, ...]
    details: tuple[str, ...] = ()  # none: as every lane has them


def embedding_lane(
    reader: Reader,
    encoder: Encoder,
    text: str,
    *,
    limit: int,
    method: str = "auto",
    constraint: Constraint | None = None,
    exact_rows: Mapping[object, frozenset[int]] | None = None,
) -> EmbeddingResult:
    """Return the nearest neighbours of a text by cosine, among the symbols that meet the filters."""
    if not text.strip():
        return EmbeddingResult((), ())  # filters alone have no vector
    vector = encoder.encode_queries([text])[0]
    request = VectorRequest(encoder.id, vector, method, constraint, exact_rows)
    found = reader.nearest(request, limit)
    return EmbeddingResult(tuple(row for row, _ in found), tuple(score for _, score in found))
