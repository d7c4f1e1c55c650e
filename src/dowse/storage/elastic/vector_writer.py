"""Vectors of one encoder, added to the symbols that have their keys, in whatever source these are."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from dowse.storage.elastic.client import Client
from dowse.storage.elastic.documents import SYMBOL
from dowse.storage.elastic.loading import refresh
from dowse.storage.elastic.mapping import add_vector_field
from dowse.storage.elastic.names import Names, clusters_id, vector_field
from dowse.storage.elastic.sender import Sender, update_action
from dowse.storage.elastic.session import Session, scan
from dowse.storage.elastic.state import read_snapshot
from dowse.storage.elastic.transactions import Documents, Transactions

if TYPE_CHECKING:
    from dowse.storage.protocol import Floats

_AT_ONCE = 1000
# Vectors that centres are fitted to. Rows are hashes, so the first ones are as good as any.
_SAMPLE = 20_000
# More clusters than this many symbols each would say nothing.
_SYMBOLS_A_CLUSTER = 5


class ElasticVectorWriter:
    """Adds vectors of one encoder; any number of them may do so at once."""

    def __init__(self, client: Client, names: Names, encoder: str, dimension: int) -> None:
        self._client, self._names, self._encoder, self._dimension = client, names, encoder, dimension
        self._field = vector_field(encoder)
        self._transactions = Transactions(client, names)
        self._is_noted = False

    def put(self, keys: Sequence[bytes], vectors: Floats) -> None:
        """Add vectors; readers see them at once."""
        if not len(keys):
            return
        self._prepare()
        texts = dict(zip((key.hex() for key in keys), as_text(vectors), strict=True))
        sender = Sender(self._client, lambda: None)
        index = self._names.alias(SYMBOL)
        try:
            for hit in self._without(list(texts)):
                text = texts[hit["_source"]["vector_key"]]
                sender.put([update_action(index, hit["_id"], {self._field: text})])
            sender.drain()
        finally:
            sender.close()
        refresh(self._client, self._names, (SYMBOL,))

    def finish(self, clusters: int, method: str, questions: Callable[[], Floats]) -> None:
        """Fit the groups of similar symbols; what is searched approximately is the cluster's business."""
        import numpy as np

        from dowse.vectors.kmeans import kmeans

        self._prepare()
        snapshot = read_snapshot(self._client, self._names)
        session = Session(self._client, self._names, snapshot)
        total = self._count(session)
        fitted = {"asked": clusters, "vectors": total, "generation": snapshot.generation}
        if snapshot.encoders.get(self._encoder, {}).get("clusters") == fitted:
            return
        exists = {"exists": {"field": self._field}}
        hits = session.scan(SYMBOL, exists, "row", source=[self._field])
        texts = [hit["_source"][self._field] for hit in islice(hits, _SAMPLE)]
        sample = from_texts(texts, self._dimension)
        centres = kmeans(sample, min(clusters, total // _SYMBOLS_A_CLUSTER))
        data = {
            "centres": b64encode(np.ascontiguousarray(centres, np.float32).tobytes()).decode(),
            "count": len(centres),
            "dimension": self._dimension,
        }
        Documents(self._client, self._names).change(clusters_id(self._encoder), lambda _: data)
        self._transactions.note_encoder(self._encoder, {"clusters": fitted})

    def _prepare(self) -> None:
        if not self._is_noted:
            add_vector_field(self._client, self._names, self._encoder, self._dimension)
            about = {"field": self._field, "dimension": self._dimension}
            self._transactions.note_encoder(self._encoder, about)
            self._is_noted = True

    def _without(self, keys: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Give the symbols with some keys that have no vector yet, of every version."""
        for start in range(0, len(keys), _AT_ONCE):
            only = {
                "bool": {
                    "filter": [{"terms": {"vector_key": list(keys[start : start + _AT_ONCE])}}],
                    "must_not": [{"exists": {"field": self._field}}],
                }
            }
            yield from scan(
                self._client, self._names.alias(SYMBOL), only, ("row", "born"), source=["vector_key"]
            )

    def _count(self, session: Session) -> int:
        only = {"bool": {"filter": [{"exists": {"field": self._field}}], "must_not": session.visible}}
        answer = session.search(SYMBOL, {"query": only, "size": 0, "track_total_hits": True})
        return int(answer["hits"]["total"]["value"])


def as_text(vectors: Floats | Sequence[Floats]) -> list[str]:
    """Return vectors as documents hold them: a signed byte a dimension, in hexadecimal.

    A cosine needs no scale. Elasticsearch takes none of a vector without direction, so such a one gets some.
    """
    import numpy as np

    from dowse.vectors.quantize import quantise

    if not len(vectors):
        return []
    codes, _ = quantise(np.asarray(vectors))
    codes[~codes.any(axis=1), -1] = 1
    return [row.tobytes().hex() for row in codes]


def from_texts(texts: Sequence[str], dimension: int) -> Floats:
    """Return vectors of length one from what documents hold."""
    import numpy as np

    from dowse.vectors.quantize import restore, scales_of

    codes = np.frombuffer(bytes.fromhex("".join(texts)), np.int8).reshape(-1, dimension)
    return restore(codes, scales_of(codes))
