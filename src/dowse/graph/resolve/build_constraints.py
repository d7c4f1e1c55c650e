"""Go: whether an ordinary build on Linux uses a file (https://pkg.go.dev/cmd/go#hdr-Build_constraints)."""

from __future__ import annotations

import re
from functools import lru_cache

_TAGS = frozenset(["linux", "amd64", "unix", "cgo", "gc"])
_SYSTEMS = frozenset(
    "aix android darwin dragonfly freebsd illumos ios js netbsd openbsd plan9 solaris wasip1 windows"
    " 386 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv64 s390x wasm".split()
)
_TOKEN = re.compile(r"&&|\|\||[!()]|[\w.]+")
# Longer constraints are no constraints.
_MAX_TOKENS = 100


@lru_cache(maxsize=4096)
def is_built(path: str, constraint: str) -> bool:
    """Whether a file is part of a build without extra tags, by its name and its constraint."""
    words = path.rpartition("/")[2].removesuffix(".go").removesuffix("_test").split("_")[1:]
    if words and words[-1] in _SYSTEMS:
        return False
    tokens = _TOKEN.findall(constraint)
    return not tokens or len(tokens) > _MAX_TOKENS or _any_of(tokens)


def _any_of(tokens: list[str]) -> bool:
    """Evaluate `a || b`, and remove what was read from the front of the tokens."""
    value = _all_of(tokens)
    while tokens[:1] == ["||"]:
        tokens.pop(0)
        value = _all_of(tokens) or value
    return value


def _all_of(tokens: list[str]) -> bool:
    value = _tag(tokens)
    while tokens[:1] == ["&&"]:
        tokens.pop(0)
        value = _tag(tokens) and value
    return value


def _tag(tokens: list[str]) -> bool:
    word = tokens.pop(0) if tokens else ""
    if word == "!":
        return not _tag(tokens)
    if word == "(":
        value = _any_of(tokens)
        if tokens[:1] == [")"]:
            tokens.pop(0)
        return value
    return word in _TAGS or word.startswith("go1.")
