"""Set operations on byte ranges: difference, intersection, text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter

from dowse.types import Span

_END = itemgetter(1)


def subtract_spans(spans: Iterable[Span], holes: Sequence[Span]) -> tuple[Span, ...]:
    """Return the parts of the spans outside of the holes, in the order of the spans."""
    if not holes:
        return tuple(spans)
    remaining: list[Span] = []
    disjoint = _merge(holes) if len(holes) > 1 else holes
    for start, end in spans:
        at = start
        for index in range(bisect_right(disjoint, start, key=_END), len(disjoint)):
            first, last = disjoint[index]
            if first >= end:
                break
            if first > at:
                remaining.append((at, first))
            at = last
        if at < end:
            remaining.append((at, end))
    return tuple(remaining)


def intersect_spans(some: Iterable[Span], others: Sequence[Span]) -> list[Span]:
    """Return the intersection, in the order of the first; the others are sorted and do not overlap."""
    common: list[Span] = []
    for start, end in some:
        for index in range(bisect_right(others, start, key=_END), len(others)):
            first, last = others[index]
            if first >= end:
                break
            common.append((max(start, first), min(end, last)))
    return common


def contains_offset(offset: int, starts: Sequence[int], spans: Sequence[Span]) -> bool:
    """Whether an offset lies in one of the sorted ranges, which start at `starts`."""
    index = bisect_right(starts, offset) - 1
    return index >= 0 and offset < spans[index][1]


def _merge(spans: Iterable[Span]) -> list[Span]:
    """Return the ranges sorted, overlapping ones merged."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged


def join_spans(data: bytes, spans: Sequence[Span]) -> bytes:
    """Return the bytes of some spans, joined."""
    if len(spans) == 1:
        start, end = spans[0]
        return data[start:end]
    return b"".join([data[start:end] for start, end in spans])
