"""The bytes of a file with line look-ups that do not split the file into lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from dowse.types import Span

_WORDS_ONLY = re.compile(rb"[\w \t]*")
# Words before a definition are searched this far back: more of them are not `export default`, and all
# definitions of a file can be in one line.
_MAX_WORDS_BYTES = 256
# What may follow a definition on its last line and still belong to it.
_TRAILER = re.compile(rb"[ \t;,]*(?:(?://|#|--|/\*)[^\n]*)?\r?(?:\n|\Z)")


class SourceText:
    """The bytes of a file and the starts of its lines."""

    __slots__ = ("_starts", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._starts: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        """The start of every line, and of one after the last; computed on first use, for long definitions."""
        if self._starts is None:
            lengths = map(len, self.data.split(b"\n"))
            self._starts = [0, *accumulate(map((1).__add__, lengths))]
        return self._starts

    def index_lines(self) -> None:
        """Compute all line starts, before many line look-ups."""
        self.starts  # noqa: B018 - computed on first use

    def lines_of(self, start: int, end: int) -> Span:
        """Return the 1-based first and last line of a non-empty range."""
        if self._starts is None:
            first = self.data.count(b"\n", 0, start) + 1
            return first, first + self.data.count(b"\n", start, end - 1)
        first = bisect_right(self._starts, start)
        return first, bisect_right(self._starts, end - 1, first - 1)

    def next_line(self, offset: int) -> int:
        """Return the start of the next line after an offset; the file's end if there is none."""
        return self.data.find(b"\n", offset) + 1 or len(self.data)

    def extend_to_line_start(self, start: int) -> int:
        """Return the start of the line if only words (`export default`) precede, else the same offset."""
        data = self.data
        low = start - _MAX_WORDS_BYTES if start > _MAX_WORDS_BYTES else 0
        line = data.rfind(b"\n", low, start) + 1
        if not line and low:
            return start
        if line == start or data[line:start].isspace() or _WORDS_ONLY.fullmatch(data, line, start):
            return line
        return start

    def extend_to_line_end(self, end: int) -> int:
        """Return the end of the line if only punctuation and a comment follow, else the same offset."""
        data = self.data
        if data.endswith(b"\n", 0, end):
            return end
        if data.startswith(b"\n", end):  # nearly always: avoid the pattern
            return end + 1
        trailer = _TRAILER.match(data, end)
        return trailer.end() if trailer else end
