"""Ranges of bytes: what is left of some when others are taken out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter

from dowse.types import Span

_END = itemgetter(1)


def without(spans: Iterable[Span], holes: Sequence[Span]) -> tuple[Span, ...]:
    """Return what the spans cover and the holes do not, in the order of the spans."""
    if not holes:
        return tuple(spans)
    left: list[Span] = []
    separate = _merged(holes) if len(holes) > 1 else holes
    for start, end in spans:
        at = start
        for index in range(bisect_right(separate, start, key=_END), len(separate)):
            first, last = separate[index]
            if first >= end:
                break
            if first > at:
                left.append((at, first))
            at = last
        if at < end:
            left.append((at, end))
    return tuple(left)


def overlap(some: Iterable[Span], others: Sequence[Span]) -> list[Span]:
    """Return what both cover; the others are in order and apart, the result is in the order of the first."""
    both: list[Span] = []
    for start, end in some:
        for index in range(bisect_right(others, start, key=_END), len(others)):
            first, last = others[index]
            if first >= end:
                break
            both.append((max(start, first), min(end, last)))
    return both


def is_inside(offset: int, starts: Sequence[int], spans: Sequence[Span]) -> bool:
    """Return whether a byte stands in one of the sorted ranges, which start at `starts`."""
    index = bisect_right(starts, offset) - 1
    return index >= 0 and offset < spans[index][1]


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Return the ranges in order, those that overlap as one."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged


def text_of(data: bytes, spans: Sequence[Span]) -> bytes:
    """Return the bytes that some spans cover."""
    if len(spans) == 1:
        start, end = spans[0]
        return data[start:end]
    return b"".join([data[start:end] for start, end in spans])
