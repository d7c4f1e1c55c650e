"""Chunking: long definitions are split where a cut costs least, other text at headings or into windows."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from dowse.parsing.source_text import SourceText
from dowse.parsing.spans import contains_offset
from dowse.types import Definition, Span

# Encoders and readers see one part at a time: 120 lines are about 1,200 tokens, and few functions are longer.
MAX_LINES = 120

# One line can be a whole file of data. A symbol is read, embedded and shown as one piece, so a piece stays
# below a length that no 120 hand-written lines have.
MAX_BYTES = 100_000

# A cut may be this share of a part away from an even split.
_SLACK = 0.25

# About a screenful, the size at which a window still has one topic.
WINDOW_LINES = 40

# A section of prose may be longer than a window: it has one topic.
_SECTION_LINES = 80

# A file with more headings is no prose: each section would be a symbol of a few bytes.
_MAX_SECTIONS = 10_000

# Only the start of a long name or heading is kept.
_NAME_CHARS = 120

# Closing marks of a heading are stripped afterwards: a pattern for them would take quadratic time.
_HEADING = re.compile(rb"^(#{1,6})[ \t]+([^\n]*)$", re.MULTILINE)
_FENCE = re.compile(rb"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)


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


def line_windows(text: SourceText, language: str, stem: str) -> tuple[Definition, ...]:
    """Chunk a file without a grammar into definitions of kind "section" or "text"."""
    definitions: list[Definition] = []
    text.index_lines()
    for span, path in _sections(text.data, stem) if language == "markdown" else [((0, len(text.data)), ())]:
        kind, limit = ("section", _SECTION_LINES) if path else ("text", WINDOW_LINES)
        parts = [
            part for part in split_spans(text, [span], limit) if text.data[part[0][0] : part[-1][1]].strip()
        ]
        definitions.extend(
            _definition(text, kind, path or (stem,), part, number) for number, part in enumerate(parts)
        )
    return tuple(definitions)


def _definition(
    text: SourceText, kind: str, path: tuple[str, ...], spans: list[Span], part: int
) -> Definition:
    """Return one window, without the blank lines around it."""
    start, end = trim(text.data, spans[0][0], spans[-1][1])
    first, last = text.lines_of(start, end)
    heading = path[-1] if kind == "section" else ""
    return Definition(kind, path[-1], ".".join(path), first, last, heading, "", ((start, end),), (), part)


def _sections(data: bytes, stem: str) -> list[tuple[Span, tuple[str, ...]]]:
    """Return the sections between headings, each with the headings above it."""
    headings = _headings(data)
    if len(headings) > _MAX_SECTIONS:
        return [((0, len(data)), ())]
    sections: list[tuple[Span, tuple[str, ...]]] = []
    if not headings or headings[0].start() > 0:
        sections.append(((0, headings[0].start() if headings else len(data)), ()))
    path: dict[int, str] = {}
    for index, heading in enumerate(headings):
        level = len(heading[1])
        path = {depth: name for depth, name in path.items() if depth < level}
        path[level] = _title(heading[2]) or stem
        end = headings[index + 1].start() if index + 1 < len(headings) else len(data)
        sections.append(((heading.start(), end), tuple(path.values())))
    return sections


def _headings(data: bytes) -> list[re.Match[bytes]]:
    """Return the headings outside of fenced code, in order."""
    fences = [fence.span() for fence in _FENCE.finditer(data)]
    starts = [start for start, _ in fences]
    return [h for h in _HEADING.finditer(data) if not contains_offset(h.start(), starts, fences)]


def _title(written: bytes) -> str:
    """Return the text of a heading, without its closing marks."""
    title = written.removesuffix(b"\r").rstrip(b" \t#")
    return title[: 4 * _NAME_CHARS].decode("utf-8", "ignore")[:_NAME_CHARS]


def trim(data: bytes, start: int, end: int) -> Span:
    """Strip blank lines at both ends of a range; a line's indentation and newline stay."""
    piece = data[start:end]
    front = len(piece) - len(piece.lstrip())
    start += piece.rfind(b"\n", 0, front) + 1
    bare = len(data[start:end].rstrip())
    newline = data.find(b"\n", start + bare, end)
    return start, newline + 1 if newline >= 0 else start + bare
