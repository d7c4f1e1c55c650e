"""Ranges of bytes: what is left of some when others are taken out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dowse.types import Span


def without(spans: Iterable[Span], holes: Sequence[Span]) -> tuple[Span, ...]:
    """Return what the spans cover and the holes do not, in the order of the spans."""
    if not holes:
        return tuple(spans)
    left: list[Span] = []
    ordered = sorted(holes)
    for start, end in spans:
        at = start
        for first, last in ordered:
            if last <= at or first >= end:
                continue
            if first > at:
                left.append((at, first))
            at = max(at, last)
        if at < end:
            left.append((at, end))
    return tuple(left)


def text_of(data: bytes, spans: Sequence[Span]) -> bytes:
    """Return the bytes that some spans cover."""
    if len(spans) == 1:
        start, end = spans[0]
        return data[start:end]
    return b"".join([data[start:end] for start, end in spans])
