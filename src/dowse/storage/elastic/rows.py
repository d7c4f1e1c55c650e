"""Symbols and files by their numbers: rows, texts, extents, lists."""

from __future__ import annotations

from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from dowse.parsing.spans import join_spans, subtract_spans
from dowse.storage.elastic.globs import wildcard_query
from dowse.storage.elastic.memory import Bearing, Details, Memory
from dowse.storage.elastic.query import among, plain, visible_query
from dowse.storage.local.compression import unpack
from dowse.types import Extents, FileStamp, StoredFile, SymbolRow

if TYPE_CHECKING:
    from dowse.encoders.document import Document
    from dowse.storage.elastic.session import Session

T = TypeVar("T")
Hit = Mapping[str, Any]

_TEXTS = ("key", "repo", "path", "language", "role", "kind", "name", "qualified_name")
# What a search brings along of its hits, so that `rows` need not ask again: columns; a stored document
# would have to be unpacked whole.
ROW_COLUMNS = ["row", "file", *_TEXTS, "start_line", "end_line", "signature", "name_key", "overrides"]
_DETAILS_SOURCE = ["row", "data.doc", "data.spans", "data.doc_spans", "data.content_hash"]
# A text that is longer than a column takes is not there.
_NO_TEXT = ("",)
# Elasticsearch's own limit on the hits of one search.
MOST_HITS = 10_000
# Texts that are read at once: some megabytes.
_TEXTS_AT_ONCE = 250
_FILES_AT_ONCE = 2_000


def columns(names: Sequence[str]) -> dict[str, Any]:
    """Return the part of a search that says which columns its hits bring along, and nothing else."""
    return {"_source": False, "stored_fields": "_none_", "docvalue_fields": list(names)}


def symbol_row(hit: Hit) -> tuple[SymbolRow, Bearing]:
    """Return a symbol from a hit that has ROW_COLUMNS, and the name that it goes by."""
    fields = hit["fields"]
    texts = (fields.get(name, _NO_TEXT)[0] for name in _TEXTS)
    lines = (fields["start_line"][0], fields["end_line"][0])
    signature = fields.get("signature", _NO_TEXT)[0]
    row = SymbolRow._make((fields["row"][0], *texts, *lines, signature, fields["file"][0]))
    return row, bearing_of(hit)


def bearing_of(hit: Hit) -> Bearing:
    """Return the name that a symbol goes by."""
    fields = hit["fields"]
    return Bearing(fields.get("name_key", _NO_TEXT)[0], bool(fields["overrides"][0]))


def number(hit: Hit, field: str = "row") -> int:
    """Return a number that a hit has among its columns."""
    return int(hit["fields"][field][0])


def scan_columns(
    session: Session, kind: str, query: dict[str, Any] | None, field: str, names: Sequence[str]
) -> Iterator[Hit]:
    """Give every visible document that meets a query (all for None), by the field that numbers them."""
    body: dict[str, Any] = {
        "query": visible_query(session.visible, [query] if query else []),
        **{"size": MOST_HITS, "sort": [{field: "asc"}], **columns(names)},
    }
    while True:
        hits = session.search(kind, body)["hits"]["hits"]
        yield from hits
        if len(hits) < MOST_HITS:
            return
        body["search_after"] = hits[-1]["sort"]


def batches(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """Give values so many at a time."""
    rest = iter(values)
    while batch := list(islice(rest, size)):
        yield batch


def read_rows(session: Session, memory: Memory, rows: Sequence[int]) -> list[SymbolRow]:
    """Return symbols in the order asked; those that are gone are left out."""

    def read(missing: Sequence[int]) -> Iterator[SymbolRow]:
        for batch in batches(dict.fromkeys(missing), MOST_HITS):
            query = visible_query(session.visible, [among("row", batch)])
            body = {"query": query, "size": len(batch), **columns(ROW_COLUMNS)}
            for row, bearing in map(symbol_row, session.search("symbols", body)["hits"]["hits"]):
                memory.bearings[row.row] = bearing
                yield row

    return memory.rows(rows, read)


def named(session: Session, keys: Sequence[str]) -> list[SymbolRow]:
    """Return the symbols with some keys, as far as there are any."""
    found: list[SymbolRow] = []
    for batch in batches(dict.fromkeys(map(plain, keys)), MOST_HITS):
        hits = scan_columns(session, "symbols", among("key", batch), "row", ROW_COLUMNS)
        found += (symbol_row(hit)[0] for hit in hits)
    return found


def rows_of_files(session: Session, memory: Memory, file_ids: Sequence[int]) -> list[SymbolRow]:
    """Return the symbols of files, file by file, in the order of their lines."""
    found: dict[int, list[tuple[tuple[int, ...], SymbolRow]]] = {file_id: [] for file_id in file_ids}
    for batch in batches(found, _FILES_AT_ONCE):
        hits = list(scan_columns(session, "symbols", among("file", batch), "row", [*ROW_COLUMNS, "order"]))
        rows = list(map(symbol_row, hits))
        if len(rows) <= MOST_HITS:  # a whole index would push out what searches use
            memory.keep_rows(rows)
        for hit, (row, _) in zip(hits, rows, strict=True):
            place = (row.start_line, -row.end_line, number(hit, "order"))
            found[row.file_id].append((place, row))
    return [row for each in found.values() for _, row in sorted(each, key=lambda one: one[0])]


def extents(session: Session, file_ids: Sequence[int]) -> Iterator[tuple[int, Extents]]:
    """Give, for each file, where its symbols lie: by first line, outer before inner."""
    wanted = ["file", "start_line", "end_line", "row"]
    for batch in batches(dict.fromkeys(file_ids), _FILES_AT_ONCE):
        lines: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        for hit in scan_columns(session, "symbols", among("file", batch), "row", wanted):
            file_id, first, last, row = (number(hit, column) for column in wanted)
            lines[file_id].append((first, -last, row))
        for file_id in batch:
            ordered = sorted(lines[file_id])
            yield (
                file_id,
                Extents(
                    [row for *_, row in ordered],
                    [first for first, *_ in ordered],
                    [-end for _, end, _ in ordered],
                ),
            )


def file_rows(session: Session, file_ids: Sequence[int]) -> list[SymbolRow]:
    """Return files as if each were one symbol of kind "file" around all its lines."""
    found: list[SymbolRow] = []
    texts = ("key", "repo", "path", "language", "role")
    for batch in batches(dict.fromkeys(file_ids), MOST_HITS):
        query = visible_query(session.visible, [among("file", batch)])
        body = {"query": query, "size": len(batch), **columns(["file", "lines", *texts])}
        for hit in session.search("files", {**body, "sort": [{"file": "asc"}]})["hits"]["hits"]:
            key, repo, path, language, role = (hit["fields"].get(each, _NO_TEXT)[0] for each in texts)
            name = path.rpartition("/")[2]
            place = (0, f"file:{key}", repo, path, language, role, "file", name, name)
            found.append(SymbolRow(*place, 1, max(1, number(hit, "lines")), "", number(hit, "file")))
    return found


def lookup(session: Session, memory: Memory, pattern: str, limit: int) -> list[SymbolRow]:
    """Return the symbols whose name or qualified name matches, those by name first, shortest names first.

    Where more match than one search gives, the first of them in the order of the alphabet are taken.
    """
    pattern = plain(pattern)
    name, full = (wildcard_query(field, pattern) for field in ("name", "qualified_name"))
    scored: list[dict[str, Any]] = [
        {"constant_score": {"filter": name, "boost": 2.0}},
        {"constant_score": {"filter": full}},
    ]
    # Names without wildcards are all of one length: the best are the first.
    wanted = max(limit, MOST_HITS) if "*" in pattern or "?" in pattern else limit
    found: list[tuple[tuple[object, ...], int]] = []
    body: dict[str, Any] = {
        "query": visible_query(session.visible, should=scored),
        "sort": ["_score", {"name": "asc"}, {"path": "asc"}, {"start_line": "asc"}, {"row": "asc"}],
        **columns([]),
    }
    while len(found) < wanted:
        body["size"] = min(MOST_HITS, wanted - len(found))
        hits = session.search("symbols", body)["hits"]["hits"]
        for score, name_, path, line, row in (hit["sort"] for hit in hits):
            found.append(((score < 2, len(name_), name_, path, line), row))
        if len(hits) < body["size"]:
            break
        body["search_after"] = hits[-1]["sort"]
    best = sorted(found)[:limit]
    return read_rows(session, memory, [row for _, row in best])


def read_texts(session: Session, file_ids: Sequence[int]) -> Iterator[tuple[int, bytes]]:
    """Give the texts of files, some at a time."""
    for batch in batches(sorted(set(file_ids)), _TEXTS_AT_ONCE):
        yield from texts_of(session.search("files", texts_body(session, batch)))


def texts_body(session: Session, file_ids: Sequence[int]) -> dict[str, Any]:
    """Return the search for the texts of some files."""
    query = visible_query(session.visible, [among("file", file_ids)])
    sort = [{"file": "asc"}]
    return {"query": query, "size": len(file_ids), "_source": ["file", "data.text"], "sort": sort}


def texts_of(answer: Mapping[str, Any]) -> Iterator[tuple[int, bytes]]:
    """Give the texts that such a search has found."""
    for hit in answer["hits"]["hits"]:
        source = hit["_source"]
        yield source["file"], unpack(b64decode(source["data"]["text"]))


def read_both(
    session: Session, memory: Memory, rows: Sequence[int], file_ids: Iterable[int]
) -> tuple[dict[int, Details], dict[int, bytes]]:
    """Return details of symbols and texts of files, in one round trip where they are few."""
    details = {row: memory.details[row] for row in rows if row in memory.details}
    missing = [row for row in dict.fromkeys(rows) if row not in details]
    searches = [("symbols", _details_body(session, batch)) for batch in batches(missing, 1_000)]
    texts: dict[int, bytes] = {}

    def read(wanted: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        nonlocal searches
        asked = [("files", texts_body(session, batch)) for batch in batches(wanted, _TEXTS_AT_ONCE)]
        # The first texts come along with the details; many texts come one batch after the other.
        answers = session.msearch([*searches, *asked[:1]])
        for answer in answers[: len(searches)]:
            details.update(_details_of(answer))
        searches = []
        for answer in (
            *answers[len(answers) - len(asked[:1]) :],
            *(session.search(*one) for one in asked[1:]),
        ):
            yield from texts_of(answer)

    texts = memory.texts(set(file_ids), read)
    if searches:  # no text was missing
        for answer in session.msearch(searches):
            details.update(_details_of(answer))
    memory.keep_details({row: details[row] for row in missing if row in details})
    return details, texts


def _details_body(session: Session, rows: Sequence[int]) -> dict[str, Any]:
    query = visible_query(session.visible, [among("row", rows)])
    return {"query": query, "size": len(rows), "_source": _DETAILS_SOURCE}


def _details_of(answer: Mapping[str, Any]) -> Iterator[tuple[int, Details]]:
    for hit in answer["hits"]["hits"]:
        data = hit["_source"]["data"]
        spans, holes = (tuple((a, b) for a, b in data[name]) for name in ("spans", "doc_spans"))
        yield hit["_source"]["row"], Details(data["doc"], spans, holes, data["content_hash"])


def documents(session: Session, memory: Memory, rows: Sequence[int]) -> list[Document]:
    """Return what an encoder reads of symbols."""
    from dowse.encoders.document import Document

    found = read_rows(session, memory, rows)
    details, texts = read_both(session, memory, [row.row for row in found], {row.file_id for row in found})
    return [
        Document(
            qualifier=row.qualified_name.removesuffix(row.name).rstrip("."),
            name=row.name,
            docs=details[row.row].doc,
            code=join_spans(
                texts[row.file_id], subtract_spans(details[row.row].spans, details[row.row].doc_spans)
            ).decode("utf-8", "replace"),
            language=row.language,
            path=row.path,
        )
        for row in found
    ]


def stamps(session: Session) -> dict[str, FileStamp]:
    """Return size, time and content hash of every file of the source at hand, by key."""
    only = {"term": {"source": session.slot}} if session.slot else None
    wanted = ["key", "size", "mtime_ns", "content_hash"]
    found = (hit["fields"] for hit in scan_columns(session, "files", only, "file", wanted))
    return {each["key"][0]: FileStamp(*(each[name][0] for name in wanted[1:])) for each in found}


def files(session: Session, only: dict[str, Any] | None = None) -> list[StoredFile]:
    """Return every file, or those that meet a query, by repository and path."""
    wanted = StoredFile._fields[1:]
    found = [
        StoredFile(number(hit, "file"), *(hit["fields"].get(name, _NO_TEXT)[0] for name in wanted))
        for hit in scan_columns(session, "files", only, "file", ["file", *wanted])
    ]
    return sorted(found, key=lambda file: (file.repo, file.path, file.file_id))


def languages(session: Session, memory: Memory) -> dict[str, int]:
    """Return the number of files per language."""
    if memory.languages is None:
        groups = {"languages": {"terms": {"field": "language", "size": 1_000}}}
        body = {"query": visible_query(session.visible), "size": 0, "aggs": groups}
        found = session.search("files", body)["aggregations"]["languages"]["buckets"]
        memory.languages = {each["key"]: each["doc_count"] for each in found}
    return dict(memory.languages)


def exact_candidates(session: Session, condition: dict[str, Any]) -> list[int]:
    """Return the files that meet a condition on their trigrams."""
    hits = scan_columns(session, "files", condition, "file", ["file"])
    return [number(hit, "file") for hit in hits]
