"""Vectors that travel with documents: code that was encoded before, here or there, is searchable at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from dowse.storage.elastic.client import Client
from dowse.storage.elastic.documents import SYMBOL, Document
from dowse.storage.elastic.mapping import add_vector_field
from dowse.storage.elastic.names import Names, vector_field
from dowse.storage.elastic.transactions import Transactions
from dowse.storage.protocol import KnownVectors

Ready = Iterable[tuple[Document, Mapping[str, str]]]
# Symbols whose vectors are looked for at once.
_AT_ONCE = 1000


class Carrier:
    """Holds documents back until enough of them are there to look for their vectors together."""

    def __init__(
        self, client: Client, names: Names, encoders: Mapping[str, Any], known: KnownVectors | None
    ) -> None:
        self._client, self._names, self._known = client, names, known
        # By encoder, the field with its vectors.
        self._fields = {encoder: str(about["field"]) for encoder, about in encoders.items()}
        self._waiting: list[Document] = []

    def put(self, documents: Sequence[Document], send: Callable[[Ready], None]) -> None:
        """Take documents; send those that are complete."""
        if not self._fields and self._known is None:
            send((document, {}) for document in documents)
            return
        self._waiting += documents
        if len(self._waiting) >= _AT_ONCE:
            self.flush(send)

    def flush(self, send: Callable[[Ready], None]) -> None:
        """Send all that is held back."""
        documents, self._waiting = self._waiting, []
        if documents:
            vectors = self._vectors(sorted({d.vector_key for d in documents if d.kind == SYMBOL}))
            send((document, vectors.get(document.vector_key, {})) for document in documents)

    def _vectors(self, keys: list[bytes]) -> dict[bytes, dict[str, str]]:
        """Return the vectors of some keys, by field, as a document holds them."""
        found: dict[bytes, dict[str, str]] = {key: {} for key in keys}
        if self._known is not None:
            for key, text in self._local(self._known, keys).items():
                found[key][vector_field(self._known.encoder)] = text
        for field in self._fields.values():
            missing = [key for key in keys if field not in found[key]]
            for start in range(0, len(missing), _AT_ONCE):
                for key, text in self._remote(field, missing[start : start + _AT_ONCE]).items():
                    found[key][field] = text
        return found

    def _local(self, known: KnownVectors, keys: list[bytes]) -> dict[bytes, str]:
        from dowse.storage.elastic.vector_writer import as_text

        vectors = known.find(keys)
        if vectors and known.encoder not in self._fields:
            add_vector_field(self._client, self._names, known.encoder, known.dimension)
            field = vector_field(known.encoder)
            Transactions(self._client, self._names).note_encoder(
                known.encoder, {"field": field, "dimension": known.dimension}
            )
            self._fields[known.encoder] = field
        return dict(zip(vectors, as_text(list(vectors.values())), strict=True))

    def _remote(self, field: str, keys: list[bytes]) -> dict[bytes, str]:
        """Return what the cluster has: the code may have moved, or be in another repository too."""
        if not keys:
            return {}
        clauses = [{"terms": {"vector_key": [key.hex() for key in keys]}}, {"exists": {"field": field}}]
        body = {
            "query": {"bool": {"filter": clauses}},
            "collapse": {"field": "vector_key"},
            "size": len(keys),
            "_source": ["vector_key", field],
        }
        hits = self._client.search(self._names.alias(SYMBOL), body)["hits"]["hits"]
        return {bytes.fromhex(hit["_source"]["vector_key"]): hit["_source"][field] for hit in hits}
