"""Records of files and symbols as plain data, and back; terms are left out and made again from the text."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

from dowse.indexing.hashes import content_hash
from dowse.indexing.records import keyword_terms
from dowse.parsing.spans import join_spans
from dowse.parsing.tokenizer import tokenize
from dowse.storage.local.compression import pack, unpack
from dowse.types import FileRecord, SymbolRecord

_PLAIN = (
    *("key", "repo", "path", "language", "role", "size", "mtime_ns", "content_hash"),
    *("encoding", "lines", "problem"),
)
_SYMBOL_PLAIN = (
    *("key", "kind", "name", "qualified_name", "start_line", "end_line", "signature", "doc", "spans"),
    *("content_hash", "doc_spans", "part", "scope_key", "name_key", "overrides"),
)


def record_to_json(record: FileRecord) -> dict[str, Any]:
    """Return a file as plain data."""
    return {
        **{name: getattr(record, name) for name in _PLAIN},
        "text": unpack(record.packed_text).decode("utf-8", "replace"),
        "references": b64encode(record.references).decode(),
        "facts": b64encode(record.facts).decode(),
        "offers": list(record.offers),
        "marks": list(record.marks),
        "symbols": [_symbol_to_json(symbol) for symbol in record.symbols],
    }


def _symbol_to_json(symbol: SymbolRecord) -> dict[str, Any]:
    return {
        **{name: getattr(symbol, name) for name in _SYMBOL_PLAIN},
        "vector_key": symbol.vector_key.hex(),
    }


def record_from_json(value: dict[str, Any], is_corpus: bool) -> FileRecord:
    """Return a file as it was put into the store, with the terms of its symbols."""
    data = value["text"].encode()
    record = FileRecord(
        *(value["key"], value["repo"], value["path"], value["language"], value["role"], value["size"]),
        *(value["mtime_ns"], value["content_hash"], value["encoding"], value["lines"], value["problem"]),
        packed_text=pack(data),
        references=b64decode(value["references"]),
        text=value["text"],
        symbols=(),
        facts=b64decode(value["facts"]),
        offers=tuple(value["offers"]),
        marks=tuple(value["marks"]),
    )
    return record._replace(
        symbols=tuple(_symbol_from_json(each, record, data, is_corpus) for each in value["symbols"])
    )


def _symbol_from_json(value: dict[str, Any], file: FileRecord, data: bytes, is_corpus: bool) -> SymbolRecord:
    spans, doc_spans = (tuple((a, b) for a, b in value[name]) for name in ("spans", "doc_spans"))
    code = join_spans(data, spans)
    symbol = SymbolRecord(
        *(value["key"], value["kind"], value["name"], value["qualified_name"]),
        *(value["start_line"], value["end_line"], value["signature"], value["doc"]),
        spans=spans,
        content_hash=value["content_hash"],
        terms=(),
        doc_spans=doc_spans,
        vector_key=bytes.fromhex(value["vector_key"]),
        part=value["part"],
        scope_key=value["scope_key"],
        name_key=value["name_key"],
        overrides=bool(value["overrides"]),
    )
    beside = symbol.doc if is_corpus and _stands_beside(symbol, file, code) else ""
    terms = keyword_terms(
        symbol.name,
        symbol.qualified_name,
        symbol.signature,
        file.path,
        code + beside.encode("utf-8", "replace"),
    )
    return symbol._replace(terms=terms)


def _stands_beside(symbol: SymbolRecord, file: FileRecord, code: bytes) -> bool:
    """Whether a corpus brought the documentation beside the code, where it is searched as well.

    The hash of its entry tells: it was made with the documentation that the entry had, or with none.
    """
    if not symbol.doc:
        return False
    text = code.decode("utf-8", "replace")
    for doc in (symbol.doc, ""):
        for name in dict.fromkeys((symbol.qualified_name, "")):
            for language in dict.fromkeys((file.language, "")):
                fields = (file.repo, file.path, name, language, text, doc)
                if content_hash("\0".join(fields).encode("utf-8", "replace")) == file.content_hash:
                    return bool(doc)
    # The entry called its language by another name: as `local_tfidf` tells it.
    return not symbol.doc_spans or not set(tokenize(symbol.doc)) <= set(tokenize(text))
