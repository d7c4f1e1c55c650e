"""The content of one source on a cluster, as it was put there."""

from __future__ import annotations

import contextlib
import functools
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dowse.errors import IndexMissing
from dowse.storage.elastic.documents import HEAVY_FIELDS, records
from dowse.storage.elastic.names import FILES, META, SYMBOLS
from dowse.storage.elastic.snapshot import SnapshotSearcher, batches
from dowse.transfer.content import VECTOR_BATCH, Content, EncoderVectors, content_meta
from dowse.types import FileRecord

if TYPE_CHECKING:
    from dowse.storage.elastic.backend import ElasticBackend
    from dowse.transfer.vector_frames import Codes

# Texts come with the documents of files: some megabytes at a time.
_FILE_BATCH = 200
# So many sources are named where the requested one is missing.
_SUGGESTIONS = 10


@contextlib.contextmanager
def elastic_content(backend: ElasticBackend) -> Iterator[Content]:
    """Open the newest generation of the source that a backend writes."""
    searcher = backend.searcher()
    version = _source_version(searcher)
    encoders = sorted(searcher.snapshot.encoders.items())
    yield Content(
        source=searcher.source,
        meta=content_meta(version["meta"]),
        skipped=[(path, reason) for path, reason in version.get("skipped", ())],
        counts=version["counts"],
        records=functools.partial(_records, searcher),
        vectors=[
            EncoderVectors(
                name, int(about["dimension"]), functools.partial(_batches, searcher, about["field"])
            )
            for name, about in encoders
        ],
    )


def _source_version(searcher: SnapshotSearcher) -> Mapping[str, Any]:
    """Return the version of the source; raises, with the names of some others, if there is none."""
    version = searcher.source_version()
    if version:
        return version
    body = {"query": {"term": {"kind": "source"}}, "size": _SUGGESTIONS, "sort": [{"slot": "asc"}]}
    others = [hit["_source"]["data"]["slot"] for hit in searcher.hits(META, body)]
    raise IndexMissing(
        f"the index {searcher.client.address.name} holds no {searcher.source or 'such repository'}; "
        f"name one that it holds with --repo, such as {', '.join(others) or 'none'}"
    )


def _records(searcher: SnapshotSearcher) -> Iterator[FileRecord]:
    own = {"term": {"source": searcher.source}}
    symbols = searcher.scan(SYMBOLS, own, "file", source={"excludes": HEAVY_FIELDS})
    files = searcher.scan(FILES, own, "file", page=_FILE_BATCH)
    for record, body, _ in records(files, symbols):
        yield record._replace(packed_text=b64decode(body["data"]["text"]))


def _batches(searcher: SnapshotSearcher, field: str) -> Iterator[tuple[Sequence[bytes], Codes]]:
    """Yield the vectors of the source, each key once."""
    import numpy as np

    query = {"bool": {"filter": [{"term": {"source": searcher.source}}, {"exists": {"field": field}}]}}
    hits = searcher.scan(SYMBOLS, query, "row", source=["vector_key", field])
    seen: set[str] = set()

    def unseen() -> Iterator[Mapping[str, str]]:
        for source in (hit["_source"] for hit in hits):
            if source["vector_key"] not in seen:
                seen.add(source["vector_key"])
                yield source

    for batch in batches(unseen(), VECTOR_BATCH):
        codes = np.frombuffer(bytes.fromhex("".join(source[field] for source in batch)), np.int8)
        yield [bytes.fromhex(source["vector_key"]) for source in batch], codes.reshape(len(batch), -1)
