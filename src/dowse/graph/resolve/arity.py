"""How many arguments a function takes, read off its signature."""

from __future__ import annotations

import re
from functools import lru_cache

_ANY = 1 << 30
_OPTIONAL = re.compile(r"=(?!=|>)|\?\s*:|\\\\")
_MANY = re.compile(r"\.\.\.|^params\s|^\*|^vararg\s")
# Longer signatures are cut off.
_WHOLE = 300


def takes(signature: str, count: int) -> bool:
    """Whether a function can be called with so many arguments; yes if nobody can tell."""
    least, most = _bounds(signature)
    return least <= count <= most


@lru_cache(maxsize=16384)
def _bounds(signature: str) -> tuple[int, int]:
    start = signature.find("(")
    if start < 0 or len(signature) >= _WHOLE:
        return 0, _ANY
    parameters = [part.strip() for part in _top_level(signature[start + 1 :])]
    parameters = [part for part in parameters if part and part != "void"]
    if parameters and parameters[0].startswith("this "):
        # An extension method is called with its first argument before the dot, or not.
        return max(0, len(parameters) - 1 - sum(map(_is_optional, parameters))), len(parameters)
    most = _ANY if any(_MANY.search(part) for part in parameters) else len(parameters)
    least = sum(1 for part in parameters if not _is_optional(part))
    return least, most


def _is_optional(parameter: str) -> bool:
    return _MANY.search(parameter) is not None or _OPTIONAL.search(parameter) is not None


def _top_level(text: str) -> list[str]:
    """The pieces between commas up to the closing bracket."""
    depth, start, pieces = 0, 0, list[str]()
    for at, char in enumerate(text):
        if char in "([{<":
            depth += 1
        elif char in ")]}>" and not (char == ">" and text[at - 1 : at] in ("-", "=")):
            if not depth:
                return [*pieces, text[start:at]]
            depth -= 1
        elif char == "," and not depth:
            pieces.append(text[start:at])
            start = at + 1
    return [*pieces, text[start:]]
