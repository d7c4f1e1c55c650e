"""Keyword search on the cluster: BM25 over fields (Robertson & Zaragoza 2009), explanations, frequencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dowse.storage.elastic.cache import GenerationCache
from dowse.storage.elastic.names import SYMBOLS
from dowse.storage.elastic.query import (
    constraint_filters,
    named_query,
    scored_terms,
    term_query,
)
from dowse.storage.elastic.rows import ROW_COLUMNS, RowReader, number, symbol_row
from dowse.storage.elastic.snapshot import SnapshotSearcher, batches, doc_values
from dowse.types import KEYWORD_FIELDS

if TYPE_CHECKING:
    from dowse.storage.protocol import KeywordRequest

FieldTerm = tuple[str, str]
# Shards must agree on document frequencies, or equal symbols would score differently.
_GLOBAL_STATISTICS = "dfs_query_then_fetch"
# Hits whose rows are brought along: nobody reads all of a longer list.
MAX_WITH_ROWS = 1_000
# Filters of one aggregation.
_COUNT_BATCH = 1_000


class KeywordReader(RowReader):
    """The part of a reader that ranks by terms."""

    def __init__(self, searcher: SnapshotSearcher, cache: GenerationCache) -> None:
        super().__init__(searcher, cache)
        self._expected: dict[FieldTerm, None] = {}

    def search_bm25(self, request: KeywordRequest, limit: int) -> list[tuple[int, float]]:
        """Return (row, score) of the best symbols, best first, ties by row; without terms all score 1."""
        scored = [query for _, _, query in scored_terms(request)]
        if not scored and (request.terms or request.constraint is None):
            return []
        filters = constraint_filters(request.constraint, request.exact_rows)
        with_rows = limit <= MAX_WITH_ROWS
        body: dict[str, Any] = {
            "query": self._searcher.query(filters, scored),
            "sort": [*(["_score"] if scored else []), {"row": "asc"}],
            **doc_values(ROW_COLUMNS if with_rows else ["row"]),
        }
        parameters: dict[str, Any] = {"search_type": _GLOBAL_STATISTICS} if scored else {}
        found: list[tuple[int, float]] = []
        for hits in self._searcher.pages(SYMBOLS, body, limit=max(0, limit), **parameters):
            if with_rows:
                self._cache.add_rows(map(symbol_row, hits))
            found += ((number(hit), float(hit["_score"]) if scored else 1.0) for hit in hits)
        return found

    def explain_bm25(
        self, request: KeywordRequest, rows: Sequence[int]
    ) -> dict[int, dict[tuple[str, str], float]]:
        """Return what each (field, term) adds to the score of each row."""
        found: dict[int, dict[tuple[str, str], float]] = {row: {} for row in rows}
        parts = scored_terms(request)
        queries = [named_query(query, str(position)) for position, (_, _, query) in enumerate(parts)]
        options: dict[str, Any] = {"search_type": _GLOBAL_STATISTICS, "include_named_queries_score": True}
        for hit in self._searcher.fetch(
            SYMBOLS, rows if parts else (), doc_values(["row"]), should=queries, **options
        ):
            values = found[number(hit)]
            for name, score in hit["matched_queries"].items():
                field, label, _ = parts[int(name)]
                values[field, label] = values.get((field, label), 0.0) + score
        return found

    def coverage(self, terms: Mapping[str, float], rows: Sequence[int]) -> dict[int, float]:
        """Return, by row, the sum of the weights of the terms in its body, however often each occurs."""
        weighted = [
            {"constant_score": {"filter": term_query("body", term), "boost": weight}}
            for term, weight in terms.items()
            if weight > 0
        ]
        hits = self._searcher.fetch(SYMBOLS, rows if weighted else (), doc_values(["row"]), should=weighted)
        return {number(hit): float(hit["_score"]) for hit in hits}

    def document_frequency(self, term: str, field: str = "") -> int:
        """Return in how many symbols a term occurs in a field, or in that where it is most frequent."""
        pairs, expected = field_terms([term], field), self._expected
        if not self._cache.document_frequencies.keys() >= set(pairs):
            self._expected = {}  # they are requested now
        return max(document_frequencies(self._searcher, self._cache, pairs, expected).values())

    def prefetch_document_frequencies(self, terms: Iterable[str], field: str = "") -> None:
        """Note terms to request together with the first document frequency that is requested."""
        known = self._cache.document_frequencies
        self._expected |= dict.fromkeys(pair for pair in field_terms(terms, field) if pair not in known)


def field_terms(terms: Iterable[str], field: str = "") -> list[FieldTerm]:
    """Return (field, term) pairs for one field, or for all."""
    return [(each, term) for term in terms for each in ([field] if field else KEYWORD_FIELDS)]


def document_frequencies(
    searcher: SnapshotSearcher,
    cache: GenerationCache,
    pairs: Iterable[FieldTerm],
    prefetch: Iterable[FieldTerm] = (),
) -> dict[FieldTerm, int]:
    """Return in how many symbols each term occurs in its field.

    Where a request is needed, `prefetch` is requested with it and cached.
    """
    pairs = list(pairs)
    known = {pair: cache.document_frequencies[pair] for pair in pairs if pair in cache.document_frequencies}
    if len(known) < len(pairs):
        missing = (pair for pair in (*pairs, *prefetch) if pair not in cache.document_frequencies)
        for batch in batches(dict.fromkeys(missing), _COUNT_BATCH):
            counts = dict(_count(searcher, batch))
            cache.add_document_frequencies(counts)
            known |= counts
    return {pair: known[pair] for pair in pairs}


def _count(searcher: SnapshotSearcher, pairs: Sequence[FieldTerm]) -> Iterator[tuple[FieldTerm, int]]:
    filters = {str(position): term_query(field, term) for position, (field, term) in enumerate(pairs)}
    groups = {"terms": {"filters": {"filters": filters}}}
    answer = searcher.search(SYMBOLS, {"query": searcher.query(), "size": 0, "aggs": groups})
    buckets = answer["aggregations"]["terms"]["buckets"]
    for position, pair in enumerate(pairs):
        yield pair, buckets[str(position)]["doc_count"]
