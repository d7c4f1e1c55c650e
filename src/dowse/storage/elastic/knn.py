"""Dense vectors on the cluster: approximate nearest neighbours (HNSW, Malkov & Yashunin 2018), clusters."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dowse.storage.elastic.bm25 import MAX_WITH_ROWS
from dowse.storage.elastic.globs import Query
from dowse.storage.elastic.names import META, SYMBOLS, clusters_id, vector_field
from dowse.storage.elastic.query import constraint_filters
from dowse.storage.elastic.rows import ROW_COLUMNS, RowReader, number, symbol_row
from dowse.storage.elastic.snapshot import MAX_HITS, doc_values
from dowse.storage.elastic.vectors import decode_vectors, encode_vectors

if TYPE_CHECKING:
    from dowse.storage.protocol import Floats, VectorRequest

# `num_candidates` of each shard: for each wanted symbol, at least, and at most.
_CANDIDATES_PER_HIT, _MIN_CANDIDATES, _MAX_CANDIDATES = 2, 300, 10_000
# Members of a cluster are searched among so many around its centroid.
_MEMBER_CANDIDATES = 10_000
_VECTOR_BATCH = 2_000


class VectorReader(RowReader):
    """The part of a reader that searches vectors."""

    def nearest(self, request: VectorRequest, limit: int) -> list[tuple[int, float]]:
        """Return (row, cosine) of the symbols whose vectors are nearest, best first, ties by row."""
        if request.encoder not in self._encoders or limit <= 0 or not request.vector.any():
            return []
        filters = constraint_filters(request.constraint, request.exact_rows)
        limit = min(limit, MAX_HITS)
        is_exact = request.method == "exact"
        candidates = _MAX_CANDIDATES if is_exact else max(_MIN_CANDIDATES, _CANDIDATES_PER_HIT * limit)
        with_rows = limit <= MAX_WITH_ROWS
        body: dict[str, Any] = {
            "knn": self._knn(request.encoder, request.vector, limit, candidates, filters),
            **{"size": limit, **doc_values(ROW_COLUMNS if with_rows else ["row"])},
        }
        hits = self._searcher.hits(SYMBOLS, body)
        if with_rows:
            self._cache.add_rows(map(symbol_row, hits))
        # Elasticsearch scores a cosine as (1 + cosine) / 2.
        found = [(number(hit), 2 * float(hit["_score"]) - 1) for hit in hits]
        return sorted(found, key=lambda each: (-each[1], each[0]))

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

    def missing_vectors(self, encoder: str) -> list[tuple[int, bytes]]:
        """Return (row, key) of symbols that have no vector yet, one for each key."""
        missing = None
        if encoder in self._encoders:
            missing = {"bool": {"must_not": [{"exists": {"field": vector_field(encoder)}}]}}
        found: dict[str, int] = {}
        for hit in self._searcher.scan_columns(SYMBOLS, missing, ["row", "vector_key"]):
            found.setdefault(hit["fields"]["vector_key"][0], number(hit))
        return [(row, bytes.fromhex(key)) for key, row in found.items()]

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
        found = {source["row"]: source[field] for source in sources if field in source}
        result = np.zeros((len(rows), dimension), np.float32)
        positions = [position for position, row in enumerate(rows) if row in found]
        if positions:
            result[positions] = decode_vectors([found[rows[each]] for each in positions], dimension)
        return result

    def vector_health(self, encoder: str) -> tuple[bool, str]:
        """Say how many symbols have a vector, and how they are searched."""
        count, total = self.embedded_count(encoder), self._searcher.snapshot.totals["symbols"]
        return True, f"{count:,} of {total:,} symbols have a vector, searched approximately (HNSW, bytes)"

    def cluster_centroids(self, encoder: str) -> Floats:
        """Return the k-means centroids of the vectors, none if they were not fitted."""
        import numpy as np

        known, dimension = self._encoders.get(encoder, {}), self._dimension(encoder)
        found = self._searcher.get(META, clusters_id(encoder)) if "clusters" in known else None
        data = b64decode(found["data"]["centres"]) if found else b""
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
