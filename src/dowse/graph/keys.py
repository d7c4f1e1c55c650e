"""Scopes of names, and hash keys of symbols, bindings and files; the same on every machine.

The tags ("symbol", "face", …) are part of the hashes in an index: with another tag, it must be rebuilt.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

# Families of languages whose calls do not distinguish methods from functions.
_NO_METHODS = frozenset(
    "ruby elixir lua bash haskell swift zig dart perl r julia clojure erlang ocaml powershell fortran"
    " solidity starlark vim scheme racket".split()
)

# Dependencies between files are tracked by the lower half of a key.
_HALF = 0xFFFFFFFF

# The bit of the upper half that tells keys of names from those of symbols.
_NAMES = 1 << 62

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


def key_of_names(key: int) -> int:
    """Return the key of names for that of symbols with the same full or bare name.

    Calls look up symbols alone. The lower halves are equal: who depends on one depends on both.
    """
    return key ^ _NAMES


def is_header(path: str) -> bool:
    """Whether a file of C or C++ is a header."""
    return path.endswith(_HEADERS)


def is_amalgamation(path: str) -> bool:
    """Whether a header of C or C++ is a copy: all headers of a library in one, or those of one release."""
    is_release = _RELEASE.search(path) is not None
    return is_release or not _AMALGAMATIONS.isdisjoint(path.lower().split("/")[:-1])


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


# The name of a file with a version: `lib_v1_2_3.hpp`.
_RELEASE = re.compile(r"[-_.]v?\d+(?:[._]\d+)+\.h\w*$")
_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".inl", ".ipp", ".cuh")
_AMALGAMATIONS = frozenset(
    "single_include single-include singleinclude single_header single-header singleheader amalgamated"
    " amalgamation".split()
)
# The family of bare names in amalgamations.
COPIES = "c copies"

# Languages whose symbols can refer to each other.
_FAMILIES = {
    "javascript": "ecmascript",
    "typescript": "ecmascript",
    "c": "c",
    "cpp": "c",
    "java": "jvm",
    "kotlin": "jvm",
    "scala": "jvm",
    "groovy": "jvm",
    "objective-c": "c",
    "vue": "ecmascript",
    "svelte": "ecmascript",
    "astro": "ecmascript",
    "notebook": "python",
}
# Every file is a scope of its own.
_BY_FILE = frozenset(["python", "ecmascript", "lua", "zig", "haskell"])
# Files declare the scope that they add to.
_BY_PACKAGE = frozenset(["jvm", "php", "csharp"])


def family_of(language: str) -> str:
    """Return the family of languages that share symbols with this one."""
    return _FAMILIES.get(language, language)


def scope_of(language: str, path: str, package: str) -> str:
    """Return the scope that the top-level names of a file belong to."""
    family = family_of(language)
    if family in _BY_FILE:
        return path
    if family == "go":
        return path.rpartition("/")[0]
    if family in _BY_PACKAGE:
        return package
    if family == "rust":
        return rust_module(path)[0]
    return ""


@lru_cache(maxsize=4096)
def prefix_of(language: str, path: str) -> str:
    """Return the prefix of the qualified names of a file in its scope: the module path, in Rust."""
    return rust_module(path)[1] if language == "rust" else ""


@lru_cache(maxsize=4096)
def rust_module(path: str) -> tuple[str, str]:
    """Return the crate that a file belongs to, and its module path there, joined with dots."""
    parts = path.removesuffix(".rs").split("/")
    if "src" in parts:
        at = len(parts) - 1 - parts[::-1].index("src")
        if "bin" not in parts[at:]:
            crate, inside = "/".join(parts[: at + 1]), parts[at + 1 :]
            if inside and inside[-1] == "mod":
                inside.pop()
            if inside in (["lib"], ["main"]):
                inside = []
            return crate, ".".join(inside)
    # The tree is the sources of one crate, or a file is a crate by itself: a test, an example.
    if parts[-1] == "mod" or parts in (["lib"], ["main"]):
        parts.pop()
    return "", ".".join(parts)


def join_names(*names: str) -> str:
    """Join names with dots, leaving out empty ones."""
    if len(names) == 2:  # nearly always, and millions of times
        first, second = names
        return f"{first}.{second}" if first and second else first or second
    return ".".join([name for name in names if name])
