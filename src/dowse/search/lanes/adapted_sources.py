"""The embedding lane of a shared index whose sources have query adapters: each with its own query.

First the query as it is finds candidates. Then each of the sources with the best ones is searched with its
adapted query, and what that finds replaces the source's candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dowse.search.lanes.embedding_result import AdaptedResult

if TYPE_CHECKING:
    from dowse.storage.protocol import Reader, SourceAdapters, VectorRequest

# Sources that are asked again, those with the best candidates first: each costs the cluster one search.
MAX_SOURCES = 8

Hits = Sequence[tuple[int, float]]


def search_adapted(
    reader: Reader, adapters: SourceAdapters, request: VectorRequest, limit: int
) -> AdaptedResult:
    """Return the nearest neighbours, those of each source by its adapted query."""
    plain = reader.nearest(request, limit)
    by_row = dict(zip((row for row, _ in plain), adapters.sources([row for row, _ in plain]), strict=True))
    sources = list(dict.fromkeys(by_row.values()))[:MAX_SOURCES]
    loaded = adapters.load(sources, len(request.vector))
    refused = tuple(source for source, adapter in loaded.items() if adapter is None)
    used = {source: adapter for source in sources if (adapter := loaded.get(source)) is not None}
    requests = [
        replace(request, vector=adapter.adapt(request.vector), source=source)
        for source, adapter in used.items()
    ]
    found = dict(zip(used, reader.nearest_each(requests, limit), strict=True))
    merged = merge(plain, by_row, found)[:limit]
    rows = tuple(row for row, _, _ in merged)
    cosines = _plain_cosines(reader, request, plain, rows)
    details = tuple(
        f"adapted by {used[source].facts.commits:,} commits: {score - cosine:+.2f}" if source else ""
        for (_, score, source), cosine in zip(merged, cosines, strict=True)
    )
    return AdaptedResult(rows, tuple(score for _, score, _ in merged), details, cosines, refused)


def merge(
    plain: Hits, sources: Mapping[int, str], adapted: Mapping[str, Hits]
) -> list[tuple[int, float, str]]:
    """Return row, score and adapted source ("" for none) of all candidates, best first, ties by row.

    Adapted cosines are lowered so that the best of a source keep the mean of its plain candidates. An adapted
    query is nearer to nearly all code of its source: by cosines alone, sources without an adapter would lose,
    and whoever writes an adapter could lift all of a source.
    """
    merged = [(row, score, "") for row, score in plain if sources[row] not in adapted]
    for source, hits in adapted.items():
        own = [score for row, score in plain if sources[row] == source]
        raised = _mean([score for _, score in hits[: len(own)]]) - _mean(own)
        merged += [(row, score - raised, source) for row, score in hits]
    return sorted(merged, key=lambda each: (-each[1], each[0]))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(1, len(values))


def _plain_cosines(
    reader: Reader, request: VectorRequest, plain: Hits, rows: Sequence[int]
) -> tuple[float, ...]:
    """Return the cosines of symbols with the query as it was."""
    known = dict(plain)
    others = [row for row in rows if row not in known]
    if others:
        values = reader.vectors(request.encoder, others) @ request.vector
        known.update(zip(others, values.tolist(), strict=True))
    return tuple(known[row] for row in rows)
