"""Scopes of top-level names: the file in Python, the directory in Go, the package in Java."""

from __future__ import annotations

from functools import lru_cache

# Languages whose symbols can refer to each other.
_FAMILIES = {
    "javascript": "ecmascript",
    "typescript": "ecmascript",
    "c": "c",
    "cpp": "c",
    "java": "jvm",
    "kotlin": "jvm",
    "scala": "jvm",
}
# Every file is a scope of its own.
_BY_FILE = frozenset(["python", "ecmascript", "lua", "zig", "haskell"])
# Files declare the scope that they add to.
_BY_PACKAGE = frozenset(["jvm", "php", "csharp"])


def family_of(language: str) -> str:
    """Return the family of languages that share symbols with this one."""
    return _FAMILIES.get(language, language)


@lru_cache(maxsize=4096)
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
    return ".".join([name for name in names if name])
