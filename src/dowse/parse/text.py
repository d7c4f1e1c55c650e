"""A file's bytes with its line starts, so that offsets become lines by bisection."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from dowse.types import Span

_WORDS_ONLY = re.compile(rb"[\w \t]*")
# What may follow a definition on its last line and still be its own.
_TRAILER = re.compile(rb"[ \t;,]*(?:(?://|#|--|/\*)[^\n]*)?\r?(?:\n|\Z)")


class Text:
    """The bytes of a file and where its lines start."""

    __slots__ = ("data", "starts")

    def __init__(self, data: bytes) -> None:
        self.data = data
        if b"\r" in data:  # splitlines would also split at a lone \r
            self.starts = [0, *accumulate(len(line) + 1 for line in data.split(b"\n"))]
        else:
            self.starts = [0, *accumulate(map(len, data.splitlines(keepends=True)))]
            if data.endswith(b"\n"):
                self.starts.append(len(data) + 1)

    def line_index(self, offset: int) -> int:
        """The 0-based line that holds this byte."""
        return bisect_right(self.starts, offset, 0, len(self.starts) - 1) - 1

    def lines_of(self, start: int, end: int) -> Span:
        """The 1-based first and last line of a non-empty range."""
        starts = self.starts
        first = bisect_right(starts, start)
        return first, bisect_right(starts, end - 1, first - 1)

    def widen_start(self, start: int) -> int:
        """Back to the start of the line when only words (`export default`) stand before."""
        line = self.data.rfind(b"\n", 0, start) + 1
        return line if line == start or _WORDS_ONLY.fullmatch(self.data, line, start) else start

    def widen_end(self, end: int) -> int:
        """On past the line's end when only punctuation and a comment follow."""
        if self.data[end - 1 : end] == b"\n":
            return end
        trailer = _TRAILER.match(self.data, end)
        return trailer.end() if trailer else end
