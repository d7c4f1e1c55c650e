"""Records as documents of a cluster; a hash of the content of each tells whether it must be sent."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from dowse.parsing.spans import join_spans
from dowse.parsing.tokenizer import tokenize
from dowse.storage.elastic.names import PAIR, file_number, name_key_of, symbol_rows
from dowse.storage.local.fulltext import folded
from dowse.types import KEYWORD_FIELDS, FileRecord, SymbolRecord

SYMBOL, FILE, EDGES = "symbols", "files", "edges"
_DIGEST = 12
# Stands in a field without terms: Lucene counts only documents that have a field, tantivy counts all, and the
# two should rank alike.
_NO_TERM = PAIR


class Document(NamedTuple):
    """A document without its version: what it is of, what it says, and a hash of that."""

    kind: str  # of the index it belongs to
    number: int  # row or file id
    file: int
    body: dict[str, Any]
    hash: bytes
    vector_key: bytes = b""


def file_documents(source: str, record: FileRecord) -> list[Document]:
    """Return the documents of a file and of its symbols."""
    # A function of a corpus is a file of its own, and has its name.
    is_corpus = [symbol.key for symbol in record.symbols] == [record.key]
    file = file_number(source, record.key)
    rows = symbol_rows(source, record.key, (symbol.key for symbol in record.symbols))
    text = record.text.encode("utf-8", "replace")
    documents = [_file(source, file, record)]
    for order, (row, symbol) in enumerate(zip(rows, record.symbols, strict=True)):
        place = {"row": row, "file": file, "source": source, "repo": record.repo, "path": record.path}
        place |= {"language": record.language, "role": record.role}
        body = place | _symbol(source, symbol, order, own_words(text, symbol, is_corpus))
        documents.append(Document(SYMBOL, row, file, body, digest(body), symbol.vector_key))
    return documents


def _file(source: str, file: int, record: FileRecord) -> Document:
    body = {
        **{"file": file, "source": source, "key": record.key, "repo": record.repo, "path": record.path},
        **{"language": record.language, "role": record.role, "size": record.size},
        **{"mtime_ns": record.mtime_ns, "content_hash": record.content_hash, "encoding": record.encoding},
        **{"lines": record.lines, "problem": record.problem, "symbols": len(record.symbols)},
        "data": {
            "text": b64encode(record.packed_text).decode(),
            "references": b64encode(record.references).decode(),
            "facts": b64encode(record.facts).decode(),
            "offers": list(record.offers),
            "marks": list(record.marks),
        },
    }
    known = digest(body)
    return Document(FILE, file, file, {**body, "trigrams": trigrams(record.text)}, known)


def _symbol(source: str, s: SymbolRecord, order: int, words: Mapping[str, int]) -> dict[str, Any]:
    body: dict[str, Any] = {
        **{"key": s.key, "kind": s.kind, "name": s.name, "qualified_name": s.qualified_name},
        **{"start_line": s.start_line, "end_line": s.end_line, "vector_key": s.vector_key.hex()},
        **{"signature": s.signature, "overrides": s.overrides, "order": order},
        "terms": dict(zip(KEYWORD_FIELDS, (_ordered(terms) or _NO_TERM for terms in s.terms), strict=True)),
        "words": words,
        "data": {
            **{"doc": s.doc, "spans": s.spans, "doc_spans": s.doc_spans, "content_hash": s.content_hash},
            **{"part": s.part, "scope_key": s.scope_key, "name_key": s.name_key},
        },
    }
    if s.name_key:
        body["name_key"] = name_key_of(source, s.name_key)
    return body


def _ordered(terms: str) -> str:
    """Return terms in an order of their own: they come from a set, and equal texts must have equal hashes."""
    return " ".join(sorted(terms.split(" "))) if terms else ""


def own_words(text: bytes, symbol: SymbolRecord, is_corpus: bool) -> dict[str, int]:
    """Return how often a symbol's own text has each term, and each pair of neighbours: what TF-IDF counts."""
    terms = tokenize(join_spans(text, symbol.spans).decode("utf-8", "replace"))
    if is_corpus and symbol.doc:
        # Some corpora hold documentation beside the code; where it stands in it, it counts once.
        said = tokenize(symbol.doc)
        terms += [] if set(said) <= set(terms) else said
    return dict(Counter([*terms, *map(PAIR.join, pairwise(terms))]))


def trigrams(text: str) -> list[str]:
    """Return the distinct trigrams of a text, lower-cased as those of a query are."""
    low = folded(text)
    return sorted({low[at : at + 3] for at in range(len(low) - 2)})


def edges_document(
    source: str,
    place: Mapping[str, Any],
    row: int,
    edges: Sequence[tuple[str, int, int, int, int]],
    named: Sequence[tuple[str, int, int, int, int]],
) -> Document:
    """Return the document of what one symbol refers to.

    Args:
        source: The source it belongs to.
        place: `file`, `repo` and `path` of the symbol.
        row: The symbol.
        edges: (kind, line, column, head, candidates) of references that were resolved.
        named: (kind, line, column, name key, whether it must be one of this source) of the others.
    """
    both = [*edges, *named]
    body = {
        **{"row": row, "source": source, **place, "line": min(each[1] for each in both)},
        "heads": sorted({each[3] for each in edges}),
        "name_keys": sorted({name_key_of(source, each[3]) for each in named}),
        "kinds": sorted({each[0] for each in both}),
        "data": {"edges": [list(each) for each in edges], "named": [list(each) for each in named]},
    }
    return Document(EDGES, row, int(place["file"]), body, digest(body))


def digest(body: Mapping[str, Any]) -> bytes:
    """Return the hash of a document's content."""
    text = json.dumps(body, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=_DIGEST).digest()


def versioned(document: Document, born: int, extra: Iterable[tuple[str, Any]] = ()) -> dict[str, Any]:
    """Return a document as it is sent."""
    return {**document.body, "hash": document.hash.hex(), "born": born, **dict(extra)}
