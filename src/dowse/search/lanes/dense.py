"""The embedding lane, dense retrieval: the symbols whose vectors are nearest to the query's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dowse.query.ast import Constraint
from dowse.search.lanes.jobs import LaneResult, columns
from dowse.storage.protocol import Reader, VectorRequest

if TYPE_CHECKING:
    from dowse.encoders.encoder import Encoder
    from dowse.vectors.adapter import Adapter


@dataclass(frozen=True, slots=True)
class AdaptedResult(LaneResult):
    """The candidates of an adapted query."""

    plain_scores: tuple[float, ...] = ()  # the cosines with the query as it was, which confidence knows
    refused: tuple[str, ...] = ()  # sources of a shared index whose adapter is damaged


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
) -> LaneResult:
    """Return the nearest neighbours of a text by cosine, among the symbols that meet the filters.

    With `adapt`, the text is adapted to the repository's history, if an adapter was learnt; in a shared
    index, to that of each source.
    """
    if not text.strip():
        return LaneResult((), ())  # filters alone have no vector
    vector = encoder.encode_queries([text])[0]
    request = VectorRequest(encoder.id, vector, method, constraint, exact_rows)
    if adapt and (adapters := reader.source_adapters(encoder.id)):
        from dowse.search.lanes.adapted_sources import search_adapted

        return search_adapted(reader, adapters, request, limit)
    adapter = _load_adapter(reader, encoder) if adapt else None
    if adapter:
        request = replace(request, vector=adapter.adapt(vector))
    rows, scores = columns(reader.nearest(request, limit))
    if adapter is None:
        return LaneResult(rows, scores)
    plain = tuple((reader.vectors(encoder.id, rows) @ vector).tolist())
    label = f"adapted by {adapter.facts.commits:,} commits"
    details = tuple(f"{label}: {now - then:+.2f}" for now, then in zip(scores, plain, strict=True))
    return AdaptedResult(rows, scores, details, plain)


def _load_adapter(reader: Reader, encoder: Encoder) -> Adapter | None:
    from dowse.vectors.adapter import load_adapter  # late: it is off by default

    return load_adapter(reader.cache_folder, encoder.id, encoder.dimension, reader.derived)
