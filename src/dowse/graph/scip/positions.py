"""Positions of SCIP in the text of a file: lines from 0, columns in the units that a document names."""

from __future__ import annotations

from typing import NamedTuple

from dowse.graph.scip.schema import UTF8, UTF16, UTF32, Message


class Position(NamedTuple):
    """Where an occurrence begins, as the parser counts: lines from 1, columns in bytes; and its text."""

    line: int
    column: int
    text: str


class Lines:
    """The lines of a file, in which occurrences are located."""

    def __init__(self, text: bytes, encoding: int) -> None:
        self._lines = text.split(b"\n")
        self._encoding = encoding

    def locate(self, occurrence: Message) -> Position | None:
        """Return the position of an occurrence on one line; None if the file has no such place."""
        span = _range(occurrence)
        if span is None or not 0 <= span[0] < len(self._lines):
            return None
        line, first, last = span
        data = self._lines[line]
        start, end = self._bytes_before(data, first), self._bytes_before(data, last)
        if start is None or end is None or end < start:
            return None
        return Position(line + 1, start, data[start:end].decode("utf-8", "replace"))

    def _bytes_before(self, line: bytes, column: int) -> int | None:
        """Return a column in bytes; None for one outside of the line, or inside of a character."""
        if column < 0:
            return None
        if line.isascii() or self._encoding == UTF8:
            return column if column <= len(line) else None
        text = line.decode("utf-8", "replace")
        if self._encoding == UTF32:
            return len(text[:column].encode()) if column <= len(text) else None
        if self._encoding == UTF16:
            units = text.encode("utf-16-le")[: 2 * column]
            try:
                return len(units.decode("utf-16-le").encode()) if len(units) == 2 * column else None
            except UnicodeDecodeError:
                return None
        return None  # the units are not said, and here it matters


def _range(occurrence: Message) -> tuple[int, int, int] | None:
    """Return line, start and end column of an occurrence; None if it spans several lines or has no range."""
    if occurrence.HasField("single_line_range"):
        one = occurrence.single_line_range
        return one.line, one.start_character, one.end_character
    span = occurrence.range
    if len(span) == 3:
        return span[0], span[1], span[2]
    if len(span) == 4 and span[0] == span[2]:
        return span[0], span[1], span[3]
    return None


def word_length(line: bytes, column: int) -> int:
    """Return the bytes of the identifier that begins at a column; UTF-8 beyond ASCII counts as letters."""
    end = column
    while end < len(line) and (line[end] >= 0x80 or (line[end : end + 1].isalnum()) or line[end] in b"_$"):
        end += 1
    return end - column
