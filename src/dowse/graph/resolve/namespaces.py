"""Where the names of a file live: its own scope in Python, its directory in Go, its package in Java."""

from __future__ import annotations

from functools import lru_cache

from dowse.graph.keys import family_of

# Every file is a scope of its own.
_BY_FILE = frozenset(["python", "ecmascript", "lua", "zig", "haskell"])
# Files name the scope that they add to.
_BY_PACKAGE = frozenset(["jvm", "php", "csharp"])


@lru_cache(maxsize=4096)
def scope_of(language: str, path: str, package: str) -> str:
    """The scope that the top-level names of a file belong to."""
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
    """What stands before the qualified names of a file in its scope: the module path, in Rust."""
    return rust_module(path)[1] if language == "rust" else ""


@lru_cache(maxsize=4096)
def rust_module(path: str) -> tuple[str, str]:
    """The crate that a file belongs to, and its module there, joined with dots."""
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


def joined(*names: str) -> str:
    """Names joined with dots, empty ones left out."""
    return ".".join([name for name in names if name])
