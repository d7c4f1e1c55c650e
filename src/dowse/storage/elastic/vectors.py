"""Vectors on a cluster: how documents hold them, and how they get there, with new documents or later."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from dowse.storage.elastic.bulk import BulkWriter, update_action
from dowse.storage.elastic.client import Client
from dowse.storage.elastic.documents import Document
from dowse.storage.elastic.mapping import add_vector_field
from dowse.storage.elastic.meta_documents import MetaDocuments
from dowse.storage.elastic.names import SYMBOLS, clusters_id, vector_field
from dowse.storage.elastic.snapshot import batches, open_searcher
from dowse.storage.elastic.transactions import IndexState
from dowse.storage.protocol import KnownVectors

if TYPE_CHECKING:
    from dowse.storage.protocol import Floats

# A document and its vectors by field, encoded.
WithVectors = tuple[Document, Mapping[str, str]]
_BATCH = 1000
# Vectors that centroids are fitted to. Rows are hashes, so the first ones are a random sample.
_SAMPLE = 20_000
# Clusters of fewer symbols would be meaningless.
_MIN_CLUSTER_SIZE = 5


class VectorAttacher:
    """Attaches known vectors to documents before they are sent, so that these are searchable at once.

    Vectors come from this machine's cache, or from other documents on the cluster: code may have moved, or be
    in another repository too.
    """

    def __init__(self, client: Client, encoders: Mapping[str, Any], known: KnownVectors | None) -> None:
        self._client, self._known = client, known
        # Fields with vectors, by encoder.
        self._fields = {encoder: str(each["field"]) for encoder, each in encoders.items()}
        self._buffer: list[Document] = []

    def put(self, documents: Sequence[Document]) -> list[WithVectors]:
        """Add documents; return those that are ready to be sent. Vectors are looked up in batches."""
        if not self._fields and self._known is None:
            return [(document, {}) for document in documents]
        self._buffer += documents
        return self.flush() if len(self._buffer) >= _BATCH else []

    def flush(self) -> list[WithVectors]:
        """Return all buffered documents."""
        documents, self._buffer = self._buffer, []
        vectors = self._find(sorted({d.vector_key for d in documents if d.kind == SYMBOLS}))
        return [(document, vectors.get(document.vector_key, {})) for document in documents]

    def _find(self, keys: list[bytes]) -> dict[bytes, dict[str, str]]:
        """Return the encoded vectors of some keys, by field."""
        vectors: dict[bytes, dict[str, str]] = {key: {} for key in keys}
        if self._known is not None and keys:
            for key, text in self._find_locally(self._known, keys).items():
                vectors[key][vector_field(self._known.encoder)] = text
        for field in self._fields.values():
            missing = [key for key in keys if field not in vectors[key]]
            for key, text in find_vectors(self._client, field, missing).items():
                vectors[key][field] = text
        return vectors

    def _find_locally(self, known: KnownVectors, keys: list[bytes]) -> dict[bytes, str]:
        vectors = known.find(keys)
        if vectors and known.encoder not in self._fields:
            register_encoder(self._client, known.encoder, known.dimension)
            self._fields[known.encoder] = vector_field(known.encoder)
        return dict(zip(vectors, encode_vectors(list(vectors.values())), strict=True))


class ElasticVectorWriter:
    """Adds vectors of one encoder to all symbols with their keys, of any source; writers need no lease."""

    def __init__(self, client: Client, encoder: str, dimension: int) -> None:
        self._client, self._encoder, self._dimension = client, encoder, dimension
        self._field = vector_field(encoder)
        self._is_registered = False

    def put(self, keys: Sequence[bytes], vectors: Floats) -> None:
        """Add vectors; readers see them at once."""
        if not len(keys):
            return
        self._register()
        texts = dict(zip((key.hex() for key in keys), encode_vectors(vectors), strict=True))
        index = self._client.alias(SYMBOLS)
        with BulkWriter(self._client) as bulk:
            for hit in self._symbols_without(texts):
                text = texts[hit["_source"]["vector_key"]]
                bulk.put([update_action(index, hit["_id"], {self._field: text})])
            bulk.drain()
        self._client.refresh([index])

    def finish(self, clusters: int, method: str, sample_queries: Callable[[], Floats]) -> None:
        """Fit the clusters of similar symbols by k-means; the cluster itself builds the HNSW graphs."""
        import numpy as np

        from dowse.vectors.kmeans import kmeans

        self._register()
        searcher = open_searcher(self._client)
        snapshot, exists = searcher.snapshot, {"exists": {"field": self._field}}
        total = searcher.count(SYMBOLS, [exists])
        fitted = {"asked": clusters, "vectors": total, "generation": snapshot.generation}
        if snapshot.encoders.get(self._encoder, {}).get("clusters") == fitted:
            return
        hits = searcher.scan(SYMBOLS, exists, "row", source=[self._field])
        texts = [hit["_source"][self._field] for hit in islice(hits, _SAMPLE)]
        centroids = kmeans(decode_vectors(texts, self._dimension), min(clusters, total // _MIN_CLUSTER_SIZE))
        data = {
            "centres": b64encode(np.ascontiguousarray(centroids, np.float32).tobytes()).decode(),
            "count": len(centroids),
            "dimension": self._dimension,
        }
        MetaDocuments(self._client).update(clusters_id(self._encoder), lambda _: data)
        IndexState(self._client).put_encoder(self._encoder, {"clusters": fitted})

    def _register(self) -> None:
        if not self._is_registered:
            register_encoder(self._client, self._encoder, self._dimension)
            self._is_registered = True

    def _symbols_without(self, keys: Iterable[str]) -> Iterator[dict[str, Any]]:
        """Yield the symbols with some keys that have no vector yet, of every version."""
        exists, index = {"exists": {"field": self._field}}, self._client.alias(SYMBOLS)
        for batch in batches(keys, _BATCH):
            query = {"bool": {"filter": [{"terms": {"vector_key": batch}}], "must_not": [exists]}}
            yield from self._client.scan(index, query, ("row", "born"), source=["vector_key"])


def register_encoder(client: Client, encoder: str, dimension: int) -> None:
    """Create the field for the vectors of an encoder; idempotent."""
    add_vector_field(client, encoder, dimension)
    description = {"field": vector_field(encoder), "dimension": dimension}
    IndexState(client).put_encoder(encoder, description)


def find_vectors(
    client: Client, field: str, keys: Iterable[bytes], *, with_values: bool = True
) -> dict[bytes, str]:
    """Return the encoded vectors that the cluster holds for some keys; empty texts without values."""
    vectors: dict[bytes, str] = {}
    for batch in batches(keys, _BATCH):
        clauses = [{"terms": {"vector_key": [key.hex() for key in batch]}}, {"exists": {"field": field}}]
        body = {
            "query": {"bool": {"filter": clauses}},
            "collapse": {"field": "vector_key"},
            "size": len(batch),
            "_source": ["vector_key", field] if with_values else ["vector_key"],
        }
        for hit in client.search(client.alias(SYMBOLS), body)["hits"]["hits"]:
            vectors[bytes.fromhex(hit["_source"]["vector_key"])] = hit["_source"].get(field, "")
    return vectors


def encode_vectors(vectors: Floats | Sequence[Floats]) -> list[str]:
    """Return vectors as documents hold them: a signed byte a dimension, in hexadecimal.

    Scales are left out, because a cosine does not depend on them. Elasticsearch has no cosine of a zero
    vector, so a zero vector gets a direction.
    """
    import numpy as np

    from dowse.vectors.quantize import quantise

    if not len(vectors):
        return []
    codes, _ = quantise(np.asarray(vectors))
    codes[~codes.any(axis=1), -1] = 1
    return [row.tobytes().hex() for row in codes]


def decode_vectors(texts: Sequence[str], dimension: int) -> Floats:
    """Return unit vectors from what documents hold."""
    import numpy as np

    from dowse.vectors.quantize import restore, scales_of

    codes = np.frombuffer(bytes.fromhex("".join(texts)), np.int8).reshape(-1, dimension)
    return restore(codes, scales_of(codes))
