"""The Protocol Buffers wire format, as far as needed to walk a message without its schema."""

from __future__ import annotations

from collections.abc import Iterator

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_VARINT_BITS = 70  # ten bytes of seven bits


class BrokenMessage(ValueError):
    """Bytes that are no valid message."""


def fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield the number and value of every field, in order; a nested message, a string or bytes is a view.

    A field may occur more than once, and parsers take the last one or merge them: whoever checks a message
    has to check every occurrence.
    """
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, at = _varint(message, at)
            yield number, value
            continue
        if kind == _BYTES:
            length, at = _varint(message, at)
        elif kind in (_FIXED32, _FIXED64):
            length = 4 if kind == _FIXED32 else 8
        else:  # groups are deprecated
            raise BrokenMessage("a field of an unknown kind")
        if number == 0 or at + length > len(message):
            raise BrokenMessage("a field without a number, or longer than its message")
        yield number, message[at : at + length]
        at += length


def as_text(value: int | memoryview) -> str:
    """Return the string value of a field."""
    if isinstance(value, int):
        raise BrokenMessage("a number where a text was expected")
    return str(value, "utf-8")


def as_message(value: int | memoryview) -> memoryview:
    """Return the nested message of a field."""
    if isinstance(value, int):
        raise BrokenMessage("a number where a message was expected")
    return value


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < _VARINT_BITS:
        if at >= len(message):
            raise BrokenMessage("cut short")
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise BrokenMessage("a number that is too long")
