"""Kinds of indices, names of fields, and ids of documents, symbols and files: the same on every machine."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

SYMBOLS, NAMES, FILES, EDGES, META = "symbols", "names", "files", "edges", "meta"
# Kinds with versioned documents; `meta` holds one document for the index and one for each source.
VERSIONED = (SYMBOLS, NAMES, FILES, EDGES)
KINDS = (*VERSIONED, META)
# Both in one request; rows of names are negative.
SYMBOLS_AND_NAMES = f"{SYMBOLS},{NAMES}"
# The field with the number of a document, by kind: the row of a symbol or name, or the id of a file.
ID_FIELD = {SYMBOLS: "row", NAMES: "row", SYMBOLS_AND_NAMES: "row", FILES: "file", EDGES: "row"}
STATE_ID = "state"
# Elasticsearch takes ids of 512 bytes.
_MAX_SOURCE_BYTES = 400


def hash_id(*parts: str) -> int:
    """Return a hash of some texts as a positive number of 62 bits, never 0."""
    digest = hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 2) or 1


def file_id(source: str, key: str) -> int:
    """Return the id of a file."""
    return hash_id("file", source, key)


def symbol_rows(source: str, file_key: str, keys: Iterable[str]) -> list[int]:
    """Return the rows of a file's symbols, by their keys; repeated keys get rows of their own.

    Those of names are negated.
    """
    seen: dict[str, int] = {}
    rows = []
    for key in keys:
        repetition = seen[key] = seen.get(key, -1) + 1
        rows.append(hash_id("symbol", source, file_key, key, *([str(repetition)] if repetition else [])))
    return rows


def kind_of_rows(rows: Sequence[int]) -> str:
    """Return the indices that hold some rows."""
    return SYMBOLS_AND_NAMES if min(rows, default=0) < 0 else SYMBOLS


def document_id(number: int, born: int) -> str:
    """Return the id of one version of a document, which makes sending it idempotent."""
    return f"{number:x}.{born}"


def source_id(source: str) -> str:
    """Return the id of the document that describes a source."""
    return f"source:{_short(source)}"


def _short(source: str) -> str:
    """Return the name of a source, or a hash of one that is too long for an id."""
    if len(source.encode("utf-8", "replace")) > _MAX_SOURCE_BYTES:
        return hashlib.blake2b(source.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return source


def clusters_id(encoder: str) -> str:
    """Return the id of the document with the k-means centroids of an encoder's vectors."""
    return f"clusters:{encoder}"


def vector_field(encoder: str) -> str:
    """Return the field for the vectors of an encoder."""
    return "v_" + re.sub(r"[^A-Za-z0-9_]", "_", encoder)


def scoped_name_key(source: str, key: int) -> str:
    """Return the key of a bare name: a reference by name means only symbols of the same source."""
    return f"{source}:{key}"
