"""The embedding lane: the symbols whose vectors are nearest to the query's."""

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
    details: tuple[str, ...] = ()  # this lane has nothing to say of a single symbol


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
    """Find the symbols that mean what a text says, among those that meet the constraint."""
    if not text.strip():
        return EmbeddingResult((), ())  # filters alone mean nothing to be near to
    vector = encoder.encode_queries([text])[0]
    request = VectorRequest(encoder.id, vector, method, constraint, exact_rows)
    found = reader.nearest(request, limit)
    return EmbeddingResult(tuple(row for row, _ in found), tuple(score for _, score in found))
