"""Read back what a cluster holds of one source, to rebuild a mirror or to resume a transaction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dowse.storage.elastic.client import Client
from dowse.storage.elastic.documents import HEAVY_FIELDS, records
from dowse.storage.elastic.manifest import Entry, Version
from dowse.storage.elastic.mirror import Mirror
from dowse.storage.elastic.names import EDGES, FILES, ID_FIELD, SYMBOLS, VERSIONED
from dowse.storage.elastic.snapshot import SnapshotSearcher

_VERSION_FIELDS = ["row", "file", "born", "hash", "size"]


def rebuild_mirror(mirror: Mirror, searcher: SnapshotSearcher, with_files: bool) -> None:
    """Fill an empty mirror: the manifest always, files and symbols unless all will be put again."""
    own = {"term": {"source": mirror.source}}
    if not with_files:
        for kind in VERSIONED:
            hits = searcher.scan(kind, own, ID_FIELD[kind], source=_VERSION_FIELDS)
            mirror.manifest.insert(_entry(kind, hit["_source"]) for hit in hits)
        return
    symbols = searcher.scan(SYMBOLS, own, "file", source={"excludes": HEAVY_FIELDS})
    files = searcher.scan(FILES, own, "file", source={"excludes": ["data.text"]})
    for record, body, symbol_bodies in records(files, symbols):
        mirror.manifest.insert([_entry(FILES, body), *(_entry(SYMBOLS, each) for each in symbol_bodies)])
        mirror.replace_file(record)
    edges = searcher.scan(EDGES, own, "row", source=[*_VERSION_FIELDS, "data"])
    mirror.insert_edges((_entry(EDGES, hit["_source"]), hit["_source"]["data"]) for hit in edges)


def created_by(client: Client, source: str, tx: int) -> Iterator[tuple[str, int, bytes]]:
    """Yield kind, number and hash of the documents that a transaction has created so far."""
    for kind, body in _of_transaction(client, source, {"term": {"born": tx}}):
        yield kind, int(body[ID_FIELD[kind]]), bytes.fromhex(body["hash"])


def deleted_by(client: Client, source: str, tx: int) -> list[Version]:
    """Return the documents that a transaction has marked as deleted so far."""
    found = _of_transaction(client, source, {"term": {"died": tx}})
    return [Version(kind, int(body[ID_FIELD[kind]]), int(body["born"])) for kind, body in found]


def _of_transaction(
    client: Client, source: str, clause: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    query = {"bool": {"filter": [{"term": {"source": source}}, clause]}}
    for kind in VERSIONED:
        sort = (ID_FIELD[kind], "born")
        for hit in client.scan(client.alias(kind), query, sort, source=_VERSION_FIELDS, page=5000):
            yield kind, hit["_source"]


def _entry(kind: str, body: dict[str, Any]) -> Entry:
    number, file = int(body[ID_FIELD[kind]]), int(body["file"])
    return kind, number, file, int(body["born"]), bytes.fromhex(body["hash"]), int(body.get("size", 0))
