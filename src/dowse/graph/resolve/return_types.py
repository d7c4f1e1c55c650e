"""The type that a function says it returns, read off its signature."""

from __future__ import annotations

import re
from functools import lru_cache

from dowse.parsing.facts import LITERAL, parse_type_name

_ARROW = re.compile(r"->\s*(.+?)\s*(?:where\b.*)?$")
_COLON = re.compile(r"\)\s*:\s*(.+?)\s*$")
_GO = re.compile(r"^func\s*(?:\([^)]*\)\s*)?\w+(?:\[[^\]]*\])?")
_BEFORE = re.compile(r"([\w.$:]+(?:<.*>)?(?:\[\])?[?&*]*)\s+[&*]*[\w:~]+\s*(?:<[^>]*>)?\s*\(")
_NOT_TYPES = frozenset(
    [
        "new",
        "return",
        "public",
        "private",
        "static",
        "def",
        "fun",
        "func",
        "override",
        "inline",
        "void",
        "else",
    ]
)


@lru_cache(maxsize=16384)
def return_type(language: str, signature: str) -> str:
    """The one class that a function returns, joined with dots; "" if it does not say, "!" if it is none."""
    written = _written(language, signature)
    if not written:
        return ""
    return parse_type_name(written)


def _written(language: str, signature: str) -> str:
    if language in ("python", "rust"):
        found = _ARROW.search(signature)
        return found[1] if found else ("" if language == "python" else LITERAL)
    if language in ("typescript", "kotlin", "php", "scala"):
        found = _COLON.search(signature)
        return found[1].removesuffix("=>").strip() if found else ""
    if language == "swift":
        found = _ARROW.search(signature)
        return found[1] if found else ""
    if language == "go":
        return _go(signature)
    if language in ("java", "csharp", "cpp", "c"):
        found = _BEFORE.search(signature)
        return found[1] if found and found[1] not in _NOT_TYPES else ""
    return ""


def _go(signature: str) -> str:
    """The first result of a Go function: the one that a single name takes, or the first of several."""
    head = _GO.match(signature)
    if not head:
        return ""
    rest = signature[head.end() :]
    depth = 0
    for at, char in enumerate(rest):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == ")" and not depth:
            rest = rest[at + 1 :].strip()
            break
    if not rest:
        return LITERAL
    if rest.startswith("("):
        first = rest[1:].split(",")[0].rstrip(")").strip()
        words = first.split()
        return words[-1] if words else ""
    return rest
