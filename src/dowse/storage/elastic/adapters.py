"""Query adapters on a cluster: one document for each source and encoder, in the meta index.

    facts     base64: the hash and the line of JSON that `dowse.vectors.adapter` packs
    matrix    base64; empty where the adapter is not used
    encoder, source    whose it is

A write replaces the document in one step. After it, the description of the encoder in the state gets another
`adapters` stamp: readers know from it whether any source has an adapter, and how long a cached one is valid.
"""

from __future__ import annotations

import binascii
import uuid
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from dowse.storage.cache import BoundedCache
from dowse.storage.elastic.bulk import Action, BulkWriter
from dowse.storage.elastic.client import Client
from dowse.storage.elastic.meta_documents import MetaDocuments
from dowse.storage.elastic.names import ADAPTER, META, SYMBOLS, adapter_id, adapter_kind
from dowse.storage.elastic.rows import GenerationCache, number
from dowse.storage.elastic.snapshot import Snapshot, SnapshotSearcher, doc_values, read_state
from dowse.storage.elastic.transactions import IndexState
from dowse.vectors.adapter import MAX_BYTES, Adapter, AdapterFacts, decode_adapter, parse_facts, unpack

if TYPE_CHECKING:
    from dowse.storage.elastic.lease import SourceLease

Lease = Callable[[], AbstractContextManager["SourceLease"]]

# The field of an encoder's description that changes when an adapter does.
STAMP = "adapters"
# Adapters in memory: of 384 dimensions, half a megabyte each.
_MAX_CACHED = 64
_REFUSED = "refused"
_DIGEST_BYTES = 16
_MAX_TEXT = 4 * (MAX_BYTES // 3 + 1)


class ElasticAdapterStore:
    """The adapter of one source and encoder."""

    def __init__(self, client: Client, source: str, encoder: str, lease: Lease) -> None:
        """Name it; `lease` makes the caller the one writer of the source."""
        self._client, self._source, self._encoder, self._lease = client, source, encoder, lease

    def read(self) -> bytes:
        """Return what was written last; nothing for what searches refuse, so that it is learnt again."""
        document = self._client.get(self._client.alias(META), adapter_id(self._encoder, self._source))
        state = read_state(self._client)
        if document is None or state is None:
            return b""
        data = document["_source"]["data"]
        dimension = int(state["encoders"].get(self._encoder, {}).get("dimension", 0))
        is_refused = _decode(data, self._encoder, self._source, dimension) == _REFUSED
        return b"" if is_refused else _data(data, self._encoder, self._source)

    def write(self, data: bytes) -> None:
        """Replace it, unless the source was removed meanwhile."""
        with self._lease() as lease:
            state = read_state(self._client)
            if state is None or not Snapshot.from_state(state).last_version(lease.versions)[1]:
                return
            lease.check()
            end = data.index(b"\n", _DIGEST_BYTES) + 1
            matrix = data[end:]
            document = {
                **{"encoder": self._encoder, "source": self._source},
                **{"facts": b64encode(data[:end]).decode(), "matrix": b64encode(matrix).decode()},
            }
            # Refreshed, because adapters are also found by searching.
            MetaDocuments(self._client).update(
                adapter_id(self._encoder, self._source), lambda _: document, source=self._source, refresh=True
            )
            # Where no adapter has ever been used, searches need not look for one.
            if matrix or STAMP in state["encoders"].get(self._encoder, {}):
                IndexState(self._client).put_encoder(self._encoder, {STAMP: uuid.uuid4().hex[:12]})


class ElasticSourceAdapters:
    """The adapters of one encoder, as searches use them."""

    def __init__(self, searcher: SnapshotSearcher, cache: GenerationCache, encoder: str, stamp: str) -> None:
        self._searcher, self._cache, self._encoder = searcher, cache, encoder
        key = f"adapters {encoder}"
        known, adapters = cache.derived.get(key, ("", None))
        if adapters is None or known != stamp:
            adapters = BoundedCache[str, Adapter | str](_MAX_CACHED)
            cache.derived[key] = (stamp, adapters)
        # Of a source without an adapter "", of one whose adapter is refused `_REFUSED`.
        self._adapters: BoundedCache[str, Adapter | str] = adapters

    def sources(self, rows: Sequence[int]) -> list[str]:
        """Return the source of each symbol."""

        def read(missing: Sequence[int]) -> Iterator[tuple[int, str]]:
            for hit in self._searcher.fetch(SYMBOLS, missing, doc_values(["row", "source"])):
                yield number(hit), str(hit["fields"]["source"][0])

        known = self._cache.sources.get(rows, read)
        return [known.get(row, "") for row in rows]

    def load(self, sources: Sequence[str], dimension: int) -> dict[str, Adapter | None]:
        """Return the adapters of sources, None for one that is refused."""

        def read(missing: Sequence[str]) -> Iterator[tuple[str, Adapter | str]]:
            client, ids = self._searcher.client, {adapter_id(self._encoder, each): each for each in missing}
            documents = client.mget(client.alias(META), list(ids))
            stored = {ids[each["_id"]]: each["_source"]["data"] for each in documents}
            for source in missing:
                data = stored.get(source)
                yield source, _decode(data, self._encoder, source, dimension) if data else ""

        known = self._adapters.get(sources, read)
        return {
            source: adapter if isinstance(adapter, Adapter) else None
            for source, adapter in known.items()
            if adapter
        }


def read_all_facts(client: Client, encoder: str) -> dict[str, AdapterFacts | None]:
    """Return what each source has learnt, by name; None if that is damaged. Matrices are not read."""
    query, fields = {"term": {"kind": adapter_kind(encoder)}}, ["slot", "data.facts"]
    facts: dict[str, AdapterFacts | None] = {}
    for hit in client.scan(client.alias(META), query, ("slot",), source=fields):
        packed = _decode_text(hit["_source"].get("data", {}).get("facts"))
        facts[str(hit["_source"]["slot"])] = parse_facts(packed[_DIGEST_BYTES:])
    return facts


def delete_adapters(client: Client, source: str) -> None:
    """Delete the adapters of a source, of every encoder."""
    query = {"bool": {"filter": [{"prefix": {"kind": ADAPTER}}, {"term": {"slot": source}}]}}
    index = client.alias(META)
    hits = client.scan(index, query, ("kind",), source=False)
    with BulkWriter(client) as bulk:
        bulk.put(Action("delete", index, hit["_id"]) for hit in hits)
        bulk.drain()


def _decode(data: Mapping[str, Any], encoder: str, source: str, dimension: int) -> Adapter | str:
    """Return an adapter, "" if it is not used, and the problem if it is refused."""
    packed = _data(data, encoder, source)
    known = unpack(packed)
    if known is None:
        return _REFUSED
    return decode_adapter(packed, dimension) or (_REFUSED if known[0].strength or known[1] else "")


def _data(data: Mapping[str, Any], encoder: str, source: str) -> bytes:
    """Return an adapter as it is packed; nothing if it is of another source or encoder."""
    if (data.get("encoder"), data.get("source")) != (encoder, source):
        return b""
    return _decode_text(data.get("facts")) + _decode_text(data.get("matrix"))


def _decode_text(text: object) -> bytes:
    if not isinstance(text, str) or len(text) > _MAX_TEXT:
        return b""
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
