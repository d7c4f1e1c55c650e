"""What a cluster has of one source, read back: for a new mirror, and to go on where a dead writer stopped."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from dowse.storage.elastic.client import WRITE_SECONDS, Client
from dowse.storage.elastic.documents import EDGES, FILE, SYMBOL
from dowse.storage.elastic.ledger import Version
from dowse.storage.elastic.mirror import Mirror
from dowse.storage.elastic.names import VERSIONED, Names
from dowse.storage.elastic.session import scan
from dowse.storage.elastic.state import Snapshot
from dowse.types import FileRecord, SymbolRecord

# The field with a document's number, by kind.
NUMBER = {SYMBOL: "row", FILE: "file", EDGES: "row"}
_VERSION_FIELDS = ["row", "file", "born", "hash", "size"]
# Most of a symbol's document, made again from the text where it is needed.
HEAVY = ["terms", "v_*"]


def load_mirror(mirror: Mirror, client: Client, names: Names, snapshot: Snapshot, keep_files: bool) -> None:
    """Fill an empty mirror: the ledger always, files and symbols unless all will be put again."""
    only = {"bool": {"filter": [{"term": {"source": mirror.slot}}], "must_not": snapshot.visible}}
    if not keep_files:
        for kind in VERSIONED:
            hits = scan(client, names.alias(kind), only, (NUMBER[kind], "born"), source=_VERSION_FIELDS)
            mirror.ledger.enter(_entry(kind, hit["_source"]) for hit in hits)
        return
    symbols = scan(client, names.alias(SYMBOL), only, ("file", "row"), source={"excludes": HEAVY})
    files = scan(client, names.alias(FILE), only, ("file", "born"), source={"excludes": ["data.text"]})
    for body, own in with_symbols(files, symbols):
        mirror.ledger.enter([_entry(FILE, body), *(_entry(SYMBOL, each) for each in own)])
        mirror.keep(as_record(body, own))
    edges = scan(client, names.alias(EDGES), only, ("row", "born"), source=[*_VERSION_FIELDS, "data"])
    mirror.enter_edges((_entry(EDGES, hit["_source"]), hit["_source"]["data"]) for hit in edges)
    mirror.relink_everything()


def sent_by(client: Client, names: Names, slot: str, tx: int) -> Iterator[tuple[str, int, bytes]]:
    """Give kind, number and hash of what a transaction has brought so far."""
    for kind, hit in _of_transaction(client, names, slot, {"term": {"born": tx}}):
        yield kind, int(hit[NUMBER[kind]]), bytes.fromhex(hit["hash"])


def marked_by(client: Client, names: Names, slot: str, tx: int) -> list[Version]:
    """Return what a transaction has marked as gone so far."""
    found = _of_transaction(client, names, slot, {"term": {"died": tx}})
    return [Version(kind, int(hit[NUMBER[kind]]), int(hit["born"])) for kind, hit in found]


def refresh(client: Client, names: Names, kinds: Iterable[str] = VERSIONED) -> None:
    """Let searches find all that was sent."""
    indices = ",".join(names.alias(kind) for kind in kinds)
    client.call(lambda es: es.indices.refresh(index=indices), seconds=WRITE_SECONDS)


def _of_transaction(
    client: Client, names: Names, slot: str, clause: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    query = {"bool": {"filter": [{"term": {"source": slot}}, clause]}}
    for kind in VERSIONED:
        for hit in scan(
            client, names.alias(kind), query, (NUMBER[kind], "born"), source=_VERSION_FIELDS, page=5000
        ):
            yield kind, hit["_source"]


def with_symbols(
    files: Iterator[dict[str, Any]], symbols: Iterator[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Give the documents of files, each with those of its symbols; both come ordered by file."""
    groups = _by_file(symbols)
    pending = next(groups, None)
    for hit in files:
        body, own = hit["_source"], []
        while pending and pending[0] < body["file"]:
            pending = next(groups, None)
        if pending and pending[0] == body["file"]:
            own, pending = pending[1], next(groups, None)
        yield body, own


def _by_file(hits: Iterator[dict[str, Any]]) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Give the symbols of each file, in the order in which the file has them."""
    for file, group in groupby((hit["_source"] for hit in hits), key=lambda body: int(body["file"])):
        yield file, sorted(group, key=lambda body: int(body["order"]))


def _entry(kind: str, body: dict[str, Any]) -> tuple[str, int, int, int, bytes, int]:
    number, file = int(body[NUMBER[kind]]), int(body["file"])
    return kind, number, file, int(body["born"]), bytes.fromhex(body["hash"]), int(body.get("size", 0))


def as_record(body: dict[str, Any], symbols: list[dict[str, Any]]) -> FileRecord:
    """Return a file as it was put, without its text."""
    data = body["data"]
    return FileRecord(
        *(body["key"], body["repo"], body["path"], body["language"], body["role"], int(body["size"])),
        *(int(body["mtime_ns"]), body["content_hash"], body["encoding"], int(body["lines"]), body["problem"]),
        packed_text=b"",
        references=b64decode(data["references"]),
        text="",
        symbols=tuple(map(_symbol, symbols)),
        facts=b64decode(data["facts"]),
        offers=tuple(data["offers"]),
        marks=tuple(data["marks"]),
    )


def _symbol(body: dict[str, Any]) -> SymbolRecord:
    data = body["data"]
    return SymbolRecord(
        *(body["key"], body["kind"], body["name"], body["qualified_name"]),
        *(int(body["start_line"]), int(body["end_line"]), body["signature"], data["doc"]),
        spans=tuple(map(tuple, data["spans"])),
        content_hash=data["content_hash"],
        terms=(),
        doc_spans=tuple(map(tuple, data["doc_spans"])),
        vector_key=bytes.fromhex(body["vector_key"]),
        part=data["part"],
        scope_key=data["scope_key"],
        name_key=data["name_key"],
        overrides=body["overrides"],
    )
