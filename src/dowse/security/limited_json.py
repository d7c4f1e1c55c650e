"""Untrusted JSON: bounded in memory, strict in what it accepts.

The parser of the standard library needs up to 120 bytes of memory for two bytes of text (`{},{},…`), accepts
`NaN` and lone surrogates, and raises RecursionError for deep nesting. Here all of that is a ValueError.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
# One character of four bytes makes its whole string in memory four times as large.
_FOUR_BYTES = re.compile(rb"[\xf0-\xf4]")
_ESCAPE = re.compile(rb"\\u(?!00)")
_BACKSLASH = ord("\\")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def parse_json_limited(data: bytes, *, max_memory: int, max_elements: int) -> Any:  # noqa: ANN401 - any JSON
    """Parse JSON in UTF-8.

    Args:
        data: The text.
        max_memory: Limit for the decoded text, in bytes.
        max_elements: Limit for the values of all lists and objects together.

    Raises:
        ValueError: It is no JSON, exceeds a limit, is nested too deeply, or has `NaN` or a lone surrogate.
    """
    if len(data) * _bytes_per_character(data) > max_memory:
        raise ValueError("too much text")
    if count_elements(data, max_elements) > max_elements:
        raise ValueError("too many values")
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_refuse_constant)
        if _has_surrogate(data):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def count_elements(data: bytes, enough: int) -> int:
    """Return an upper bound of the number of values; strings are excluded only if it exceeds `enough`."""
    count = _count_separators(data)
    return count if count <= enough else _count_separators(_STRING.sub(b"", data))


def _count_separators(data: bytes) -> int:
    return data.count(b",") + data.count(b"[") + data.count(b"{")


def _bytes_per_character(data: bytes) -> int:
    """Return the bytes of the widest character in memory."""
    if data.isascii() and not _ESCAPE.search(data):
        return 1
    return 4 if _FOUR_BYTES.search(data) or _ESCAPE.search(data) else 2


def _has_surrogate(data: bytes) -> bool:
    """Whether there is an escaped surrogate; after an odd number of backslashes it is only text about one."""
    for match in _SURROGATE.finditer(data):
        before = match.start()
        while before and data[before - 1] == _BACKSLASH:
            before -= 1
        if (match.start() - before) % 2 == 0:
            return True
    return False


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
