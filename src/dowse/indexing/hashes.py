"""Hashes of content, and the ids of symbols."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dowse.source.corpus import CorpusFunction


def content_hash(data: bytes) -> str:
    """Return the hash of a text."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def vector_key(language: str, words_of_path: str, qualified_name: str, doc: str, bare_code: bytes) -> bytes:
    """Return the key of a symbol's vector: equal for symbols that an encoder can't tell apart."""
    header = "\0".join((language, words_of_path, qualified_name, doc)).encode("utf-8", "replace")
    return hashlib.blake2b(header + b"\0" + bare_code, digest_size=16).digest()


def corpus_hash(function: CorpusFunction) -> str:
    """Return the hash of a corpus entry."""
    fields = (function.repo, function.path, function.name, function.language, function.code, function.doc)
    return content_hash("\0".join(fields).encode("utf-8", "replace"))


def symbol_keys(repo: str, path: str) -> Callable[[str], str]:
    """Return a function that gives each symbol of a file its id, by qualified name and in source order.

    An id stays the same as long as repo, path, qualified name and the ordinal among equal names do.
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
