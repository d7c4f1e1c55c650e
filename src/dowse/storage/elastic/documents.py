"""Records as documents of a cluster and back; a content hash tells whether a document must be sent."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from dowse.lazy_classes import NamedTuple
from dowse.storage.elastic.names import (
    EDGES,
    FILES,
    NAMES,
    SYMBOLS,
    file_id,
    scoped_name_key,
    symbol_rows,
)
from dowse.storage.elastic.record_json import (
    FILE_FIELDS,
    decode_file,
    decode_name,
    decode_symbol,
    encode_file,
    encode_name,
    encode_symbol,
)
from dowse.storage.local.fulltext import folded
from dowse.types import KEYWORD_FIELDS, FileRecord, NameRecord, SymbolRecord

_HASH_BYTES = 12
# Fields of a symbol or name that are columns; all others are stored in `data`.
_SYMBOL_COLUMNS = frozenset(
    "key kind name qualified_name start_line end_line vector_key signature overrides".split()
)
# Stands in a field without terms: Lucene counts only documents that have a field, tantivy counts all, and the
# two should rank alike.
_NO_TERM = "+"  # no term is this
# Most of a symbol's document; computed again from the text where it is needed.
HEAVY_FIELDS = ["terms", "v_*"]


class Document(NamedTuple):
    """A document without its version."""

    kind: str  # of the index it belongs to
    number: int  # row or file id
    file: int
    body: dict[str, Any]
    hash: bytes  # of the body
    vector_key: bytes = b""


def file_documents(source: str, record: FileRecord) -> list[Document]:
    """Return the documents of a file, of its symbols and of its names."""
    file = file_id(source, record.key)
    shared = {
        **{"file": file, "source": source, "repo": record.repo, "path": record.path},
        **{"language": record.language, "role": record.role},
    }
    documents = [_file_document(source, file, record)]
    rows = symbol_rows(source, record.key, (symbol.key for symbol in record.symbols))
    for order, (row, symbol) in enumerate(zip(rows, record.symbols, strict=True)):
        body = {"row": row, **shared, "order": order, **_symbol_body(source, symbol)}
        documents.append(Document(SYMBOLS, row, file, body, content_hash(body), symbol.vector_key))
    rows = symbol_rows(source, record.key, (name.key for name in record.names))
    for order, (row, name) in enumerate(zip(rows, record.names, strict=True)):
        body = {"row": -row, **shared, "order": order, **_columns(source, name, encode_name(name))}
        documents.append(Document(NAMES, -row, file, body, content_hash(body)))
    return documents


def _file_document(source: str, file: int, record: FileRecord) -> Document:
    body: dict[str, Any] = {"file": file, "source": source, "symbols": len(record.symbols)}
    body["data"] = {"text": b64encode(record.packed_text).decode()}
    for name, value in encode_file(record).items():
        (body if name in FILE_FIELDS else body["data"])[name] = value
    return Document(FILES, file, file, {**body, "trigrams": trigrams(record.text)}, content_hash(body))


def _symbol_body(source: str, symbol: SymbolRecord) -> dict[str, Any]:
    # Sorted: terms come from a set, and equal texts must have equal hashes.
    terms = (" ".join(sorted(each.split(" "))) if each else _NO_TERM for each in symbol.terms)
    columns = _columns(source, symbol, encode_symbol(symbol))
    return {"terms": dict(zip(KEYWORD_FIELDS, terms, strict=True)), **columns}


def _columns(source: str, record: SymbolRecord | NameRecord, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a symbol or name, and all else as `data`."""
    body: dict[str, Any] = {"data": {}}
    for name, value in values.items():
        (body if name in _SYMBOL_COLUMNS else body["data"])[name] = value
    if record.name_key:
        body["name_key"] = scoped_name_key(source, record.name_key)
    return body


def trigrams(text: str) -> list[str]:
    """Return the distinct trigrams of a text, lower-cased like those of a query."""
    lower = folded(text)
    return sorted({lower[start : start + 3] for start in range(len(lower) - 2)})


def edges_document(
    source: str,
    location: Mapping[str, Any],
    row: int,
    edges: Sequence[tuple[str, int, int, int, int]],
    named: Sequence[tuple[str, int, int, int, int]],
) -> Document:
    """Return the document with the references of one symbol.

    Args:
        source: The source it belongs to.
        location: `file`, `repo` and `path` of the symbol.
        row: The symbol.
        edges: (kind, line, column, target row, candidates) of resolved references.
        named: (kind, line, column, name key, whether it must be one of this source) of the others.
    """
    both = [*edges, *named]
    body = {
        **{"row": row, "source": source, **location, "line": min(each[1] for each in both)},
        "heads": sorted({each[3] for each in edges}),
        "name_keys": sorted({scoped_name_key(source, each[3]) for each in named}),
        "kinds": sorted({each[0] for each in both}),
        "data": {"edges": [list(each) for each in edges], "named": [list(each) for each in named]},
    }
    return Document(EDGES, row, int(location["file"]), body, content_hash(body))


def content_hash(body: Mapping[str, Any]) -> bytes:
    """Return the hash of a document's body."""
    text = json.dumps(body, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=_HASH_BYTES).digest()


def records(
    files: Iterator[dict[str, Any]], symbols: Iterator[dict[str, Any]]
) -> Iterator[tuple[FileRecord, dict[str, Any], list[dict[str, Any]]]]:
    """Yield files from the hits of their documents: record without text, document, those of what it defines.

    Both iterators are ordered by file; `symbols` has symbols and names.
    """
    for body, own in _merge_join(files, symbols):
        values = [(each["row"], {**each, **each["data"]}) for each in own]
        decoded = (decode_symbol(value) for row, value in values if row > 0)
        names = (decode_name(value) for row, value in values if row < 0)
        yield decode_file({**body, **body["data"]}, decoded, names), body, own


def _merge_join(
    files: Iterable[dict[str, Any]], symbols: Iterable[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield each file with its symbols and names, each in the order in which the file has them."""
    groups = groupby((hit["_source"] for hit in symbols), key=lambda body: int(body["file"]))
    pending = next(groups, None)
    for hit in files:
        body, own = hit["_source"], []
        while pending and pending[0] < body["file"]:
            pending = next(groups, None)
        if pending and pending[0] == body["file"]:
            own = sorted(pending[1], key=lambda symbol: int(symbol["order"]))
            pending = next(groups, None)
        yield body, own
