"""Hash keys of symbols, bindings and files; the same on every machine.

The tags ("symbol", "face", …) are part of the hashes in an index: with another tag, it must be rebuilt.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

# Families of languages whose calls do not distinguish methods from functions.
_NO_METHODS = frozenset(["ruby", "elixir", "lua", "bash", "haskell", "swift", "zig"])

# Dependencies between files are tracked by the lower half of a key.
_HALF = 0xFFFFFFFF

# A longer answer is hashed without the cache: 65,536 of them could fill the memory.
_MAX_CACHED = 300


def _hash(*parts: str) -> int:
    """Hash a question to a number that fits a database's integers; never 0."""
    data = "\0".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little", signed=True) or 1


_cached_hash = lru_cache(maxsize=65536)(_hash)


def dependency_id(key: int) -> int:
    """Return the half of a key under which a dependency on it is recorded."""
    return key & _HALF


def fingerprint(key: int, answer: str) -> int:
    """Return a key with a hash of what a file answers to it: it changes when the answer does."""
    hashed = (_cached_hash if len(answer) <= _MAX_CACHED else _hash)("answer", answer)
    return ((key & _HALF) << 31) | (hashed & (_HALF >> 1))


def scope_key(family: str, scope: str, full_name: str) -> int:
    """Return the key of the symbols with a full name in a scope."""
    return _cached_hash("symbol", family, scope, full_name)


def name_key(family: str, is_member: bool, name: str) -> int:
    """Return the key of the symbols with a bare name."""
    return _cached_hash("member" if is_member and family not in _NO_METHODS else "name", family, name)


def binding_key(path: str, slot: str) -> int:
    """Return the key of what a file binds one of its names to."""
    return _cached_hash("face", path, slot)


def package_key(*parts: str) -> int:
    """Return the key of the files that make up or describe a package."""
    return _cached_hash("mark", *parts)


def remainder_key(path: str) -> int:
    """Return the key of the symbol for the code outside all definitions of a file."""
    return _cached_hash("rest", path)


def file_key(path: str) -> int:
    """Return the key of whether a file exists, and in which language."""
    return _cached_hash("file", path)
