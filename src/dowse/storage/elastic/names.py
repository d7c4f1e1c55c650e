"""What things are called on a cluster: indices, documents, symbols and files, the same on every machine."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

KINDS = ("symbols", "files", "edges", "meta")
# Documents with versions; `meta` holds one document for the index and one for each source.
VERSIONED = ("symbols", "files", "edges")
STATE_ID = "state"
# Elasticsearch takes ids of 512 bytes.
_LONGEST_SLOT = 400


@dataclass(frozen=True, slots=True)
class Names:
    """The indices of one NAME: readers and writers use the aliases, a rebuild fills the next number."""

    name: str

    def alias(self, kind: str) -> str:
        """Return what everybody calls an index."""
        return f"dowse-{self.name}-{kind}"

    def physical(self, kind: str, number: int = 1) -> str:
        """Return what an index is really called."""
        return f"{self.alias(kind)}-{number:06d}"

    @property
    def every(self) -> list[str]:
        """The aliases of all indices."""
        return [self.alias(kind) for kind in KINDS]


def number_of(*parts: str) -> int:
    """Return a positive number of 62 bits that stands for some texts, never 0."""
    digest = hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 2) or 1


def file_number(source: str, key: str) -> int:
    """Return the id of a file."""
    return number_of("file", source, key)


def symbol_rows(source: str, file_key: str, keys: Iterable[str]) -> list[int]:
    """Return the rows of a file's symbols, by their keys; of equal keys each gets a row of its own."""
    seen: dict[str, int] = {}
    rows = []
    for key in keys:
        again = seen[key] = seen.get(key, -1) + 1
        rows.append(number_of("symbol", source, file_key, key, *([str(again)] if again else [])))
    return rows


def document_id(number: int, born: int) -> str:
    """Return the id of one version of a document: sent twice it is still one."""
    return f"{number:x}.{born}"


def source_id(slot: str) -> str:
    """Return the id of the document of a source."""
    if len(slot.encode("utf-8", "replace")) > _LONGEST_SLOT:
        slot = hashlib.blake2b(slot.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f"source:{slot}"


def clusters_id(encoder: str) -> str:
    """Return the id of the document with the centres of an encoder's groups."""
    return f"clusters:{encoder}"


def vector_field(encoder: str) -> str:
    """Return the field for the vectors of an encoder."""
    return "v_" + re.sub(r"[^A-Za-z0-9_]", "_", encoder)


def name_key_of(source: str, key: int) -> str:
    """Return what a bare name is called: only symbols of the same source can be meant by it."""
    return f"{source}:{key}"
