"""A reader of one generation of an index on a cluster: BM25, nearest neighbours, clusters, counts.

BM25 over fields: Robertson & Zaragoza 2009. Approximate nearest neighbours: HNSW, Malkov & Yashunin 2018.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.lazy_classes import replace
from dowse.storage.elastic.edges import EdgeReader
from dowse.storage.elastic.errors import TooManyClauses
from dowse.storage.elastic.globs import Query
from dowse.storage.elastic.names import META, SYMBOLS, clusters_id, vector_field
from dowse.storage.elastic.query import (
    MAX_CLAUSES,
    among,
    constraint_filters,
    named_query,
    scored_terms,
    term_query,
)
from dowse.storage.elastic.rows import ROW_COLUMNS, GenerationCache, number, symbol_row
from dowse.storage.elastic.snapshot import MAX_HITS, SnapshotSearcher, batches, common_meta, doc_values
from dowse.storage.elastic.vectors import decode_vectors, encode_vectors
from dowse.types import KEYWORD_FIELDS

if TYPE_CHECKING:
    from dowse.storage.elastic.client import Hit
    from dowse.storage.protocol import Floats, KeywordRequest, Term, VectorRequest

FieldTerm = tuple[str, str]
# Shards must agree on document frequencies, or equal symbols would score differently.
_GLOBAL_STATISTICS = "dfs_query_then_fetch"
# Hits whose rows are brought along: nobody reads all of a longer list.
_MAX_WITH_ROWS = 1_000
# Filters of one aggregation.
_COUNT_BATCH = 1_000
# `num_candidates` of each shard: for each wanted symbol, at least, and at most.
_CANDIDATES_PER_HIT, _MIN_CANDIDATES, _MAX_CANDIDATES = 2, 300, 10_000
# Members of a cluster are searched among so many around its centroid.
_MEMBER_CANDIDATES = 10_000
_VECTOR_BATCH = 2_000


class ElasticReader(EdgeReader):
    """One generation, with snapshot isolation."""

    def __init__(self, searcher: SnapshotSearcher, cache: GenerationCache) -> None:
        super().__init__(searcher, cache)
        snapshot = searcher.snapshot
        self.generation, self.identity = snapshot.generation, snapshot.identity
        self.is_corpus = snapshot.corpora > 0 and snapshot.trees == 0
        self.is_complete = snapshot.incomplete == 0
        self.is_linked = True  # files and graph are one commit here
        self.cache_folder: Path | None = None
        self.derived: dict[str, Any] = cache.derived
        self._expected: dict[FieldTerm, None] = {}  # document frequencies that will be requested

    # BM25

    def search_bm25(self, request: KeywordRequest, limit: int) -> list[tuple[int, float]]:
        """Return (row, score) of the best symbols, best first, ties by row; without terms all score 1."""
        try:
            return self._search_bm25(request, limit)
        except TooManyClauses as error:
            fields = sum(map(bool, request.field_weights.values()))
            terms = self._best_terms(request.terms, (error.limit - MAX_CLAUSES // 10) // max(1, fields))
            if len(terms) == len(request.terms):
                raise
            return self._search_bm25(replace(request, terms=terms), limit)

    def _best_terms(self, terms: Sequence[Term], count: int) -> tuple[Term, ...]:
        """Return the terms that add most to scores: not those that no symbol has, nor the most frequent."""
        self.prefetch_document_frequencies(term.text for term in terms)
        frequencies = {term: self.document_frequency(term.text) for term in terms}
        # A term with an edit distance may match others.
        known = [term for term in terms if frequencies[term] or term.distance]
        known.sort(key=lambda term: (-term.weight, frequencies[term]))
        return tuple(known[: max(1, count)])

    def _search_bm25(self, request: KeywordRequest, limit: int) -> list[tuple[int, float]]:
        scored = [query for _, _, query in scored_terms(request)]
        if not scored and (request.terms or request.constraint is None):
            return []
        filters = constraint_filters(request.constraint, request.exact_rows)
        with_rows = limit <= _MAX_WITH_ROWS
        body: dict[str, Any] = {
            "query": self._searcher.query(filters, scored),
            "sort": [*(["_score"] if scored else []), {"row": "asc"}],
            **doc_values(ROW_COLUMNS if with_rows else ["row"]),
        }
        parameters: dict[str, Any] = {"search_type": _GLOBAL_STATISTICS} if scored else {}
        scores: list[tuple[int, float]] = []
        for hits in self._searcher.pages(SYMBOLS, body, limit=max(0, limit), **parameters):
            if with_rows:
                self._cache.add_rows(map(symbol_row, hits))
            scores += ((number(hit), float(hit["_score"]) if scored else 1.0) for hit in hits)
        return scores

    def explain_bm25(self, request: KeywordRequest, rows: Sequence[int]) -> dict[int, dict[FieldTerm, float]]:
        """Return what each (field, term) adds to the score of each row."""
        contributions: dict[int, dict[FieldTerm, float]] = {row: {} for row in rows}
        parts = scored_terms(request)
        queries = [named_query(query, str(position)) for position, (_, _, query) in enumerate(parts)]
        options: dict[str, Any] = {"search_type": _GLOBAL_STATISTICS, "include_named_queries_score": True}
        for some in batches(queries, MAX_CLAUSES):
            for hit in self._searcher.fetch(SYMBOLS, rows, doc_values(["row"]), should=some, **options):
                values = contributions[number(hit)]
                for name, score in hit["matched_queries"].items():
                    field, label, _ = parts[int(name)]
                    values[field, label] = values.get((field, label), 0.0) + score
        return contributions

    def coverage(self, terms: Mapping[str, float], rows: Sequence[int]) -> dict[int, float]:
        """Return, by row, the sum of the weights of the terms in its body, however often each occurs."""
        weighted = [
            {"constant_score": {"filter": term_query("body", term), "boost": weight}}
            for term, weight in terms.items()
            if weight > 0
        ]
        covered: dict[int, float] = {}
        for some in batches(weighted, MAX_CLAUSES):
            for hit in self._searcher.fetch(SYMBOLS, rows, doc_values(["row"]), should=some):
                covered[number(hit)] = covered.get(number(hit), 0.0) + float(hit["_score"])
        return covered

    def document_frequency(self, term: str, field: str = "") -> int:
        """Return in how many symbols a term occurs in a field, or in that where it is most frequent."""
        pairs = _field_terms([term], field)

        def read(missing: Sequence[FieldTerm]) -> Iterator[tuple[FieldTerm, int]]:
            requested, self._expected = dict.fromkeys(missing) | self._expected, {}
            for batch in batches(requested, _COUNT_BATCH):
                yield from self._count_symbols(batch).items()

        frequencies = self._cache.document_frequencies.get(pairs, read)
        return max(frequencies[pair] for pair in pairs)

    def _count_symbols(self, pairs: Sequence[FieldTerm]) -> dict[FieldTerm, int]:
        """Return the document frequencies of some terms, by one aggregation."""
        filters = {str(position): term_query(field, term) for position, (field, term) in enumerate(pairs)}
        groups = {"terms": {"filters": {"filters": filters}}}
        answer = self._searcher.search(SYMBOLS, {"query": self._searcher.query(), "size": 0, "aggs": groups})
        buckets = answer["aggregations"]["terms"]["buckets"]
        return {pair: buckets[str(position)]["doc_count"] for position, pair in enumerate(pairs)}

    def prefetch_document_frequencies(self, terms: Iterable[str], field: str = "") -> None:
        """Note terms to request together with the first document frequency that is requested."""
        pairs = _field_terms(terms, field)
        known = self._cache.document_frequencies.get(pairs)
        self._expected |= dict.fromkeys(pair for pair in pairs if pair not in known)

    # Vectors

    def nearest(self, request: VectorRequest, limit: int) -> list[tuple[int, float]]:
        """Return (row, cosine) of the symbols whose vectors are nearest, best first, ties by row."""
        body = self._nearest_body(request, limit)
        return self._neighbours(self._searcher.hits(SYMBOLS, body)) if body else []

    def _nearest_body(self, request: VectorRequest, limit: int) -> dict[str, Any]:
        """Return the search for the nearest symbols; nothing if there can be none."""
        if request.encoder not in self._encoders or limit <= 0 or not request.vector.any():
            return {}
        filters = constraint_filters(request.constraint, request.exact_rows)
        limit = min(limit, MAX_HITS)
        is_exact = request.method == "exact"
        candidates = _MAX_CANDIDATES if is_exact else max(_MIN_CANDIDATES, _CANDIDATES_PER_HIT * limit)
        columns = ROW_COLUMNS if limit <= _MAX_WITH_ROWS else ["row"]
        return {
            "knn": self._knn(request.encoder, request.vector, limit, candidates, filters),
            **{"size": limit, **doc_values(columns)},
        }

    def _neighbours(self, hits: Sequence[Hit]) -> list[tuple[int, float]]:
        """Return (row, cosine) of hits, and keep what they bring along."""
        self._cache.add_rows(symbol_row(hit) for hit in hits if "file" in hit["fields"])
        # Elasticsearch scores a cosine as (1 + cosine) / 2.
        neighbours = [(number(hit), 2 * float(hit["_score"]) - 1) for hit in hits]
        return sorted(neighbours, key=lambda each: (-each[1], each[0]))

    def embedded_count(self, encoder: str) -> int:
        """Return how many symbols have a vector of an encoder; cached once all have."""
        if encoder not in self._encoders:
            return 0
        count = self._cache.embedded.get(encoder)
        if count is None:
            count = self._searcher.count(SYMBOLS, [{"exists": {"field": vector_field(encoder)}}])
            if count == self._searcher.snapshot.totals["symbols"]:
                self._cache.embedded[encoder] = count
        return count

    def has_approximate_vectors(self, encoder: str) -> bool:
        """Return False: processes of a cluster embed at once."""
        return False

    def missing_vectors(self, encoder: str) -> list[tuple[int, bytes]]:
        """Return (row, key) of symbols that have no vector yet, one for each key."""
        row_by_key: dict[bytes, int] = {}
        for row, key in self._scan_missing(encoder):
            row_by_key.setdefault(key, row)
        return [(row, key) for key, row in row_by_key.items()]

    def without_vector(self, encoder: str, rows: Sequence[int]) -> list[tuple[int, bytes]]:
        """Return (row, key) of those of some symbols that have no vector, in the given order."""
        keys = dict(self._scan_missing(encoder, [among("row", list(rows))])) if rows else {}
        return [(row, keys[row]) for row in rows if row in keys]

    def _scan_missing(self, encoder: str, filters: Sequence[Query] = ()) -> Iterator[tuple[int, bytes]]:
        clauses: dict[str, Any] = {"filter": [*filters]}
        if encoder in self._encoders:
            clauses["must_not"] = [{"exists": {"field": vector_field(encoder)}}]
        for hit in self._searcher.scan_columns(SYMBOLS, {"bool": clauses}, ["row", "vector_key"]):
            yield number(hit), bytes.fromhex(hit["fields"]["vector_key"][0])

    def vectors(self, encoder: str, rows: Sequence[int]) -> Floats:
        """Return the vectors of symbols, a row of zeros for one that has none."""
        import numpy as np

        field, dimension = vector_field(encoder), self._dimension(encoder)
        hits = self._searcher.fetch(
            SYMBOLS,
            rows if encoder in self._encoders else (),
            {"_source": ["row", field]},
            batch=_VECTOR_BATCH,
        )
        sources = (hit["_source"] for hit in hits)
        texts = {source["row"]: source[field] for source in sources if field in source}
        result = np.zeros((len(rows), dimension), np.float32)
        positions = [position for position, row in enumerate(rows) if row in texts]
        if positions:
            result[positions] = decode_vectors([texts[rows[each]] for each in positions], dimension)
        return result

    def vector_health(self, encoder: str) -> tuple[bool, str]:
        """Say how many symbols have a vector, and how they are searched."""
        count, total = self.embedded_count(encoder), self._searcher.snapshot.totals["symbols"]
        return True, f"{count:,} of {total:,} symbols have a vector, searched approximately (HNSW, bytes)"

    def cluster_centroids(self, encoder: str) -> Floats:
        """Return the k-means centroids of the vectors, none if they were not fitted."""
        import numpy as np

        known, dimension = self._encoders.get(encoder, {}), self._dimension(encoder)
        document = self._searcher.get(META, clusters_id(encoder)) if "clusters" in known else None
        data = b64decode(document["data"]["centres"]) if document else b""
        return np.frombuffer(data, np.float32).reshape(-1, dimension)

    def cluster_members(self, encoder: str, cluster: int) -> list[tuple[int, float]]:
        """Return (row, cosine) of the symbols nearer to this centroid than to any other, nearest first.

        In an index of more symbols than one search returns, only the nearest symbols are considered.
        """
        import numpy as np

        from dowse.vectors.kmeans import nearest_centroids

        centroids, field = self.cluster_centroids(encoder), vector_field(encoder)
        if not 0 <= cluster < len(centroids):
            return []
        candidates = _MEMBER_CANDIDATES
        body = {
            "knn": self._knn(encoder, centroids[cluster], candidates, candidates, []),
            **{"size": candidates, "_source": ["row", field]},
        }
        sources = [hit["_source"] for hit in self._searcher.hits(SYMBOLS, body)]
        if not sources:
            return []
        vectors = decode_vectors([source[field] for source in sources], centroids.shape[1])
        labels, cosines = nearest_centroids(vectors, centroids)
        rows = np.array([source["row"] for source in sources], np.int64)
        members = np.flatnonzero(labels == cluster)
        order = members[np.lexsort((rows[members], -cosines[members]))]
        return [(int(rows[position]), float(cosines[position])) for position in order]

    @property
    def _encoders(self) -> Mapping[str, Mapping[str, Any]]:
        return self._searcher.snapshot.encoders

    def _dimension(self, encoder: str) -> int:
        return int(self._encoders.get(encoder, {}).get("dimension", 1))

    def _knn(
        self, encoder: str, vector: Floats, k: int, candidates: int, filters: Sequence[Query]
    ) -> dict[str, Any]:
        """Return the `knn` part of a search; filters apply during the graph traversal."""
        (query_vector,) = encode_vectors(vector[None])
        return {
            "field": vector_field(encoder),
            "query_vector": query_vector,
            "k": k,
            "num_candidates": max(k, min(candidates, _MAX_CANDIDATES)),
            "filter": self._searcher.query(filters),
        }

    # Counts and metadata

    def skipped(self) -> list[tuple[str, str]]:
        """Return the files that are not indexed, and why."""
        versions = [self._source_version] if self._source_version else self._searcher.source_versions()
        return sorted(
            (str(path), str(reason)) for version in versions for path, reason in version.get("skipped", ())
        )

    def symbol_count(self) -> int:
        """Return the number of symbols, without a request."""
        return int(self._searcher.snapshot.totals["symbols"])

    def counts(self) -> dict[str, int]:
        """Return the number of files, symbols, source bytes and skipped files."""
        totals = self._searcher.snapshot.totals
        return {name: int(totals[name]) for name in ("files", "symbols", "bytes", "skipped")}

    def meta(self) -> dict[str, str]:
        """Return the metadata of this machine's source, or what all sources have in common."""
        return {**self._meta, "generation": str(self.generation)}

    @cached_property
    def _source_version(self) -> Mapping[str, Any]:
        return self._searcher.source_version()

    @cached_property
    def _meta(self) -> dict[str, str]:
        if self._source_version:
            return dict(self._source_version["meta"])
        return common_meta(self._searcher.source_versions())


def _field_terms(terms: Iterable[str], field: str = "") -> list[FieldTerm]:
    """Return (field, term) pairs for one field, or for all."""
    return [(each, term) for term in terms for each in ([field] if field else KEYWORD_FIELDS)]
