"""Decodes messages in the wire format of protocol buffers: numbers, and bytes of strings, messages, lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield the number and value of each field of a message."""
    at = 0
    while at < len(data):
        tag, at = number_at(data, at)
        value, at = number_at(data, at)
        if tag & 7:
            at += value
            yield tag >> 3, data[at - value : at]
        else:
            yield tag >> 3, value


def numbers(packed: bytes) -> list[int]:
    """Return the numbers of a packed field."""
    found, at = [], 0
    while at < len(packed):
        value, at = number_at(packed, at)
        found.append(value)
    return found


def number_at(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length and the offset after it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
