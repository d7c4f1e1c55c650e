"""Methods that are read like fields: properties of Python, getters, accessors, methods without parameters."""

from __future__ import annotations

import re

_GETTER = re.compile(r"(?:\w+ )*?[gs]et [\w$#\[]+\(")
_DECORATED = re.compile(r"@[\w.]*(?:property|getter|setter|deleter)\b")
# Lines of decorators before a function.
MAX_HEAD = 12


def is_property(language: str, signature: str, lines: list[str]) -> bool:
    """Whether a method is read like a field; `lines` are its first ones, with decorators."""
    if language == "python":
        for line in lines[:MAX_HEAD]:
            text = line.lstrip()
            if text.startswith(("def ", "async ")):
                return False
            if _DECORATED.match(text):
                return True
        return False
    if language in ("javascript", "typescript"):
        return _GETTER.match(signature) is not None
    return bool(signature) and "(" not in signature
