"""Hashes under which symbols and files are looked for; the same on every machine."""

from __future__ import annotations

import hashlib
from functools import lru_cache

# Languages whose symbols can mean each other.
_FAMILIES = {
    "javascript": "ecmascript",
    "typescript": "ecmascript",
    "c": "c",
    "cpp": "c",
    "java": "jvm",
    "kotlin": "jvm",
    "scala": "jvm",
}

# Languages where a call does not tell methods from functions.
_ONE_KIND = frozenset(["ruby", "elixir", "lua", "bash", "haskell", "swift", "zig"])

# The lower half of a key says which answer a file has used: that it changed is found out by these.
_HALF = 0xFFFFFFFF


# A longer answer is hashed anew each time: 65,536 of them could fill the memory.
_MAX_CACHED = 300


def _hash_of(*parts: str) -> int:
    """Hash a question to a number that fits a database's integers; never 0."""
    said = "\0".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "little", signed=True) or 1


key_of = lru_cache(maxsize=65536)(_hash_of)


def asked(key: int) -> int:
    """The half of a key under which it is remembered that somebody asked."""
    return key & _HALF


def offer(key: int, answer: str) -> int:
    """One offer of a file: what can be asked, and a hash of what it answers."""
    hashed = (key_of if len(answer) <= _MAX_CACHED else _hash_of)("answer", answer)
    return ((key & _HALF) << 31) | (hashed & (_HALF >> 1))


def family_of(language: str) -> str:
    """The languages that share symbols with this one, by one name."""
    return _FAMILIES.get(language, language)


def scope_key(family: str, scope: str, full_name: str) -> int:
    """Where a symbol is looked for by its full name."""
    return key_of("symbol", family, scope, full_name)


def name_key(family: str, is_member: bool, name: str) -> int:
    """Where a symbol is looked for by its bare name alone."""
    return key_of("member" if is_member and family not in _ONE_KIND else "name", family, name)


def face_key(path: str, what: str) -> int:
    """Where it is looked for what a file says of one of its names."""
    return key_of("face", path, what)


def mark_key(*parts: str) -> int:
    """Where a file as a whole is looked for."""
    return key_of("mark", *parts)


def rest_key(path: str) -> int:
    """Where the symbol is looked for that holds what stands outside all definitions of a file."""
    return key_of("rest", path)


def file_key(path: str) -> int:
    """Where it is looked for whether there is a file, and in which language."""
    return key_of("file", path)
