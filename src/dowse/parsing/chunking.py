"""Chunking: long text is split into parts at the lines where a cut costs least."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from dowse.parsing.source_text import SourceText
from dowse.types import Span

# Encoders and readers see one part at a time: 120 lines are about 1,200 tokens, and few functions are longer.
MAX_LINES = 120

# One line can be a whole file of data. A symbol is read, embedded and shown as one piece, so a piece stays
# below a length that no 120 hand-written lines have.
MAX_BYTES = 100_000

# A cut may be this share of a part away from an even split.
_SLACK = 0.25


def split_spans(text: SourceText, spans: list[Span], max_lines: int) -> list[list[Span]]:
    """Return the spans in one part, or in several of about the same length."""
    parts = [spans]
    # Counted first, since most classes are long only with their methods.
    if sum(text.data.count(b"\n", start, end - 1) + 1 for start, end in spans) > max_lines:
        lines = _lines(text, spans)
        count = -(-len(lines) // max_lines)
        size = len(lines) / count
        cuts = {_best_cut(text, lines, round(size * k), max(1, int(size * _SLACK))) for k in range(1, count)}
        parts = _cut(spans, sorted(cuts))
    return [piece for part in parts for piece in _cut(part, _byte_cuts(text.data, part))]


def _byte_cuts(data: bytes, spans: list[Span]) -> list[int]:
    """Return cuts such that no piece has more than MAX_BYTES; never inside a UTF-8 character."""
    cuts, space = [], MAX_BYTES
    for start, end in spans:
        while end - start > space:
            start += space
            while data[start] & 0xC0 == 0x80:  # a UTF-8 continuation byte
                start -= 1
            cuts.append(start)
            space = MAX_BYTES
        space -= end - start
    return cuts


def _lines(text: SourceText, spans: list[Span]) -> list[int]:
    """Return the start of each line of the spans."""
    starts: list[int] = []
    for start, end in spans:
        starts.append(start)
        starts.extend(text.starts[bisect_right(text.starts, start) : bisect_left(text.starts, end)])
    return starts


def _best_cut(text: SourceText, lines: list[int], ideal: int, slack: int) -> int:
    """Return the cheapest cut near the ideal line: after a blank line, at low indentation."""
    near = range(max(1, ideal - slack), min(len(lines), ideal + slack + 1))
    return lines[min(near, key=lambda index: (_cost(text.data, lines, index), abs(index - ideal)))]


def _cost(data: bytes, lines: list[int], index: int) -> int:
    """Return the cost of a cut before this line."""
    start = lines[index]
    stop = lines[index + 1] if index + 1 < len(lines) else len(data)
    line = data[start : min(stop, start + 200)]
    code = line.lstrip()
    if not code:
        return 1000
    closes = 8 if code[:1] in b"})]" or code.startswith(b"end") else 0
    after_blank = -6 if not data[lines[index - 1] : start].strip() else 0
    return len(line) - len(code) + closes + after_blank


def _cut(spans: list[Span], cuts: list[int]) -> list[list[Span]]:
    """Distribute the spans over the parts between the cuts."""
    parts: list[list[Span]] = [[]]
    remaining = iter([*cuts, -1])
    cut = next(remaining)
    for start, end in spans:
        while 0 <= cut < end:
            if start < cut:
                parts[-1].append((start, cut))
                start = cut
            if parts[-1]:
                parts.append([])
            cut = next(remaining)
        if start < end:
            parts[-1].append((start, end))
    return [part for part in parts if part]
