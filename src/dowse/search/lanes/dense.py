"""The embedding lane, dense retrieval: the symbols whose vectors are nearest to the query's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dowse.lazy_classes import replace
from dowse.query.ast import Constraint
from dowse.search.lanes.embedding_result import AdaptedResult, EmbeddingResult
from dowse.search.lanes.jobs import LaneResult, columns
from dowse.storage.protocol import Reader, VectorRequest

if TYPE_CHECKING:
    from dowse.encoders.encoder import Encoder
    from dowse.search.lanes.query_time_encoding import EncodingBudget, QueryTimeVectors
    from dowse.storage.protocol import Floats
    from dowse.vectors.adapter import Adapter


def embedding_lane(
    reader: Reader,
    encoder: Encoder,
    text: str,
    *,
    limit: int,
    method: str = "auto",
    constraint: Constraint | None = None,
    exact_rows: Mapping[object, frozenset[int]] | None = None,
    adapt: bool = False,
    encode: EncodingBudget | None = None,
) -> LaneResult:
    """Return the nearest neighbours of a text by cosine, among the symbols that meet the filters.

    With `adapt`, the text is adapted to the repository's history, if an adapter was learnt. With `encode`,
    keyword candidates without a vector are encoded now.
    """
    if not text.strip():
        return LaneResult((), ())  # filters alone have no vector
    vector = encoder.encode_queries([text])[0]
    request = VectorRequest(encoder.id, vector, method, constraint, exact_rows)
    adapter = _load_adapter(reader, encoder) if adapt else None
    if adapter:
        request = replace(request, vector=adapter.adapt(vector))
    # Without any, the keys of all symbols need not be read.
    has_any = not encode or reader.embedded_count(encoder.id) or reader.has_approximate_vectors(encoder.id)
    hits = reader.nearest(request, limit) if has_any else []
    added = _encode_candidates(reader, encoder, encode) if encode else None
    if added:
        known = dict(hits)
        known.update(zip(added.rows, (added.vectors @ request.vector).tolist(), strict=True))
        hits = sorted(known.items(), key=lambda hit: (-hit[1], hit[0]))
    rows, scores = columns(hits[:limit])
    if adapter is None and adapt and _has_damaged_adapter(reader, encoder):
        return AdaptedResult(rows, scores, (), scores, is_damaged=True, query_time=added)
    if adapter is None:
        return EmbeddingResult(rows, scores, query_time=added)
    plain = _plain_cosines(reader, encoder, rows, vector, added)
    label = f"adapted by {adapter.facts.commits:,} commits"
    details = tuple(f"{label}: {now - then:+.2f}" for now, then in zip(scores, plain, strict=True))
    return AdaptedResult(rows, scores, details, plain, query_time=added)


def _encode_candidates(reader: Reader, encoder: Encoder, budget: EncodingBudget) -> QueryTimeVectors | None:
    from dowse.search.lanes.query_time_encoding import encode_candidates  # late: most indexes are embedded

    return encode_candidates(reader, encoder, budget)


def _plain_cosines(
    reader: Reader, encoder: Encoder, rows: Sequence[int], vector: Floats, added: QueryTimeVectors | None
) -> tuple[float, ...]:
    """Return the cosines of symbols with the query as it was."""
    known = dict(zip(added.rows, (added.vectors @ vector).tolist(), strict=True)) if added else {}
    stored = [row for row in rows if row not in known]
    if stored:
        known.update(zip(stored, (reader.vectors(encoder.id, stored) @ vector).tolist(), strict=True))
    return tuple(known[row] for row in rows)


def _load_adapter(reader: Reader, encoder: Encoder) -> Adapter | None:
    from dowse.vectors.adapter import load_adapter  # late: it is off by default

    return load_adapter(reader.cache_folder, encoder.id, encoder.dimension, reader.derived)


def _has_damaged_adapter(reader: Reader, encoder: Encoder) -> bool:
    from dowse.vectors.adapter import is_damaged

    return is_damaged(reader.cache_folder, encoder.id)
