"""A file's bytes with questions about its lines, answered without cutting the file into lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from dowse.types import Span

_WORDS_ONLY = re.compile(rb"[\w \t]*")
# Words before a definition are looked for this far back: more of them are not `export default`, and all
# definitions of a file can stand in one line.
_REACH = 256
# What may follow a definition on its last line and still be its own.
_TRAILER = re.compile(rb"[ \t;,]*(?:(?://|#|--|/\*)[^\n]*)?\r?(?:\n|\Z)")


class Text:
    """The bytes of a file and where its lines start."""

    __slots__ = ("_starts", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._starts: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        """Where every line starts, and where one after the last would; only long definitions need it."""
        if self._starts is None:
            lengths = map(len, self.data.split(b"\n"))
            self._starts = [0, *accumulate(map((1).__add__, lengths))]
        return self._starts

    def index_lines(self) -> None:
        """Find all line starts, for whoever is going to ask for many lines."""
        self.starts  # noqa: B018 - found on first use

    def lines_of(self, start: int, end: int) -> Span:
        """The 1-based first and last line of a non-empty range."""
        if self._starts is None:
            first = self.data.count(b"\n", 0, start) + 1
            return first, first + self.data.count(b"\n", start, end - 1)
        first = bisect_right(self._starts, start)
        return first, bisect_right(self._starts, end - 1, first - 1)

    def next_line(self, offset: int) -> int:
        """Where the line after the one that holds this byte starts; the file's end if there is none."""
        return self.data.find(b"\n", offset) + 1 or len(self.data)

    def widen_start(self, start: int) -> int:
        """Back to the start of the line when only words (`export default`) stand before."""
        data = self.data
        low = start - _REACH if start > _REACH else 0
        line = data.rfind(b"\n", low, start) + 1
        if not line and low:
            return start
        if line == start or data[line:start].isspace() or _WORDS_ONLY.fullmatch(data, line, start):
            return line
        return start

    def widen_end(self, end: int) -> int:
        """On past the line's end when only punctuation and a comment follow."""
        data = self.data
        if data.endswith(b"\n", 0, end):
            return end
        if data.startswith(b"\n", end):  # nearly always: spare the pattern
            return end + 1
        trailer = _TRAILER.match(data, end)
        return trailer.end() if trailer else end
