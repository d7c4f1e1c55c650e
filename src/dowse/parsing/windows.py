"""Chunking without a syntax tree: Markdown by its headings, other text in windows of lines."""

from __future__ import annotations

import re

from dowse.parsing.chunking import split_spans
from dowse.parsing.source_text import SourceText
from dowse.parsing.spans import contains_offset
from dowse.types import Definition, Span

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


def line_windows(text: SourceText, language: str, stem: str) -> tuple[Definition, ...]:
    """Chunk a file without a grammar into definitions of kind "section" or "text"."""
    found: list[Definition] = []
    text.index_lines()
    for span, path in _sections(text.data, stem) if language == "markdown" else [((0, len(text.data)), ())]:
        kind, limit = ("section", _SECTION_LINES) if path else ("text", WINDOW_LINES)
        parts = [
            part for part in split_spans(text, [span], limit) if text.data[part[0][0] : part[-1][1]].strip()
        ]
        found.extend(
            _definition(text, kind, path or (stem,), part, number) for number, part in enumerate(parts)
        )
    return tuple(found)


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
    fences = [found.span() for found in _FENCE.finditer(data)]
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
