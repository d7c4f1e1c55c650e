"""Everything that a cluster holds of one source, read back as it was put there."""

from __future__ import annotations

import contextlib
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dowse.errors import IndexMissing
from dowse.storage.elastic.documents import FILE, SYMBOL
from dowse.storage.elastic.loading import HEAVY, as_record, with_symbols
from dowse.storage.elastic.names import source_id
from dowse.storage.elastic.session import Session
from dowse.storage.elastic.state import read_snapshot
from dowse.transfer.content import VECTORS_AT_ONCE, Content, Encoded, described
from dowse.types import FileRecord

if TYPE_CHECKING:
    from dowse.storage.elastic.backend import ElasticBackend
    from dowse.transfer.content import Codes

# Texts come with the documents of files: some megabytes at a time.
_FILES_AT_ONCE = 200
# So many sources are named where the wanted one is missing.
_NAMED = 10


@contextlib.contextmanager
def elastic_content(backend: ElasticBackend) -> Iterator[Content]:
    """Open the newest generation of the source that a backend writes."""
    snapshot = read_snapshot(backend.client, backend.names)
    session = Session(backend.client, backend.names, snapshot, backend.source)
    version = _version(session)
    own = {"term": {"source": session.slot}}
    encoded = [
        Encoded(encoder, int(about["dimension"]), _vectors_of(session, own, str(about["field"])))
        for encoder, about in sorted(snapshot.encoders.items())
    ]
    yield Content(
        slot=session.slot,
        meta=described(version["meta"]),
        skipped=[(path, reason) for path, reason in version.get("skipped", ())],
        counts=version["counts"],
        records=lambda: _records(session, own),
        encoded=encoded,
    )


def _version(session: Session) -> Mapping[str, Any]:
    """Return what the source says of itself; raises, with the names of some others, if there is none."""
    from dowse.storage.elastic.sources import versions

    if session.slot and session.get("meta", source_id(session.slot)):
        found = versions(session)
        if found:
            return found[0]
    body = {"query": {"term": {"kind": "source"}}, "size": _NAMED, "sort": [{"slot": "asc"}]}
    others = [hit["_source"]["data"]["slot"] for hit in session.search("meta", body)["hits"]["hits"]]
    raise IndexMissing(
        f"the index {session.names.name} holds no {session.slot or 'such repository'}; "
        f"name one that it holds with --repo, such as {', '.join(others) or 'none'}"
    )


def _records(session: Session, own: Mapping[str, Any]) -> Iterator[FileRecord]:
    symbols = session.scan(SYMBOL, own, "file", source={"excludes": HEAVY})
    for body, mine in with_symbols(session.scan(FILE, own, "file", page=_FILES_AT_ONCE), symbols):
        yield as_record(body, mine)._replace(packed_text=b64decode(body["data"]["text"]))


def _vectors_of(session: Session, own: Mapping[str, Any], field: str) -> Any:  # noqa: ANN401 - as `Encoded` has it
    def chunks() -> Iterator[tuple[Sequence[bytes], Codes]]:
        import numpy as np

        query = {"bool": {"filter": [own, {"exists": {"field": field}}]}}
        seen: set[bytes] = set()
        keys: list[bytes] = []
        texts: list[str] = []
        for hit in session.scan(SYMBOL, query, "row", source=["vector_key", field]):
            key = bytes.fromhex(hit["_source"]["vector_key"])
            if key in seen:
                continue
            seen.add(key)
            keys.append(key)
            texts.append(hit["_source"][field])
            if len(keys) == VECTORS_AT_ONCE:
                yield keys, np.frombuffer(bytes.fromhex("".join(texts)), np.int8).reshape(len(keys), -1)
                keys, texts = [], []
        if keys:
            yield keys, np.frombuffer(bytes.fromhex("".join(texts)), np.int8).reshape(len(keys), -1)

    return chunks
