"""What tells whether a text changed, and what names a symbol."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dowse.source.corpus import CorpusFunction


def content_hash(data: bytes) -> str:
    """Return the hash that tells whether two texts are the same."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def vector_key(language: str, place: str, qualified_name: str, doc: str, bare_code: bytes) -> bytes:
    """Return the name of a symbol's vector: equal for symbols that an encoder can't tell apart."""
    said = "\0".join((language, place, qualified_name, doc)).encode("utf-8", "replace")
    return hashlib.blake2b(said + b"\0" + bare_code, digest_size=16).digest()


def corpus_hash(function: CorpusFunction) -> str:
    """Return the hash that tells whether a corpus entry changed."""
    fields = (function.repo, function.path, function.name, function.language, function.code, function.doc)
    return content_hash("\0".join(fields).encode("utf-8", "replace"))


def symbol_keys(repo: str, path: str) -> Callable[[str], str]:
    """Return what gives each symbol of a file its id.

    The same as long as repo, path, qualified name and the place among those of that name are.
    """
    file = hashlib.blake2b(f"{repo}\0{path}\0".encode("utf-8", "surrogatepass"), digest_size=8)
    seen: dict[str, int] = {}

    def key(qualified_name: str) -> str:
        ordinal = seen.get(qualified_name, 0)
        seen[qualified_name] = ordinal + 1
        identity = file.copy()
        identity.update(f"{qualified_name}\0{ordinal}".encode("utf-8", "surrogatepass"))
        return identity.hexdigest()

    return key
