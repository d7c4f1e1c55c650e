"""Files of a snapshot as JSON, and back; terms are left out and computed again from the text."""

from __future__ import annotations

from typing import Any

from dowse.indexing.hashes import content_hash
from dowse.indexing.records import LENGTH_PADDING, keyword_terms
from dowse.parsing.spans import join_spans
from dowse.parsing.tokenizer import tokenize
from dowse.storage.compression import pack, unpack
from dowse.storage.record_json import decode_file, decode_symbol, encode_file, encode_symbol
from dowse.types import FileRecord, SymbolRecord


def record_to_json(record: FileRecord) -> dict[str, Any]:
    """Return a file with its text and symbols."""
    return {
        **encode_file(record),
        "text": unpack(record.packed_text).decode("utf-8", "replace"),
        "symbols": [encode_symbol(symbol) for symbol in record.symbols],
    }


def record_from_json(value: dict[str, Any], is_corpus: bool) -> FileRecord:
    """Return a file as indexing would put it into the store, with the terms of its symbols."""
    data = value["text"].encode()
    file = decode_file(value, packed_text=pack(data), text=value["text"])
    return with_terms(file._replace(symbols=tuple(map(decode_symbol, value["symbols"]))), data, is_corpus)


def with_terms(file: FileRecord, data: bytes, is_corpus: bool) -> FileRecord:
    """Return a file with the terms of its symbols, given its text."""
    symbols = (symbol._replace(terms=_symbol_terms(symbol, file, data, is_corpus)) for symbol in file.symbols)
    return file._replace(symbols=tuple(symbols))


def _symbol_terms(symbol: SymbolRecord, file: FileRecord, data: bytes, is_corpus: bool) -> tuple[str, ...]:
    code = join_spans(data, symbol.spans)
    body = code
    if is_corpus and _has_separate_doc(symbol, file, code):
        body += symbol.doc.encode("utf-8", "replace")
    padding = "" if is_corpus else LENGTH_PADDING
    return keyword_terms(symbol.name, symbol.qualified_name, symbol.signature, file.path, body, padding)


def _has_separate_doc(symbol: SymbolRecord, file: FileRecord, code: bytes) -> bool:
    """Whether a corpus has the documentation beside the code, where it is searched as well.

    The hash of its entry tells: it was computed with the documentation that the entry had, or with none.
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
    # The entry called its language by another name: decided as TF-IDF does.
    return not symbol.doc_spans or not set(tokenize(symbol.doc)) <= set(tokenize(text))
