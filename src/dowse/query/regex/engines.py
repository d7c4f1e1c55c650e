"""The engines that match a pattern, each correct for some texts; with the results of ripgrep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING

from dowse import deadline
from dowse.lazy_classes import dataclass
from dowse.query.regex import re2_engine
from dowse.query.regex.ast import (
    CharClass,
    CharSet,
    Node,
    Perl,
    SetOperation,
    has_boundary,
    literal_text,
    program_size,
    whole_word,
)
from dowse.types import Span

if TYPE_CHECKING:
    from dowse.query.regex.nfa import Nfa

# Yields the matches in a part of a text: the text, start and end of the part, whether one a line is enough.
Engine = Callable[[bytes, int, int, bool], Iterator[Span]]
# After this many matches in one text, or empty ones, which show nothing, one per line is enough.
MAX_MATCHES, MAX_EMPTY = 100_000, 1000
# Instructions x bytes of one call of RE2, which nothing can interrupt: at worst (20 to 50 ns) half a second.
# A line of 100 KB stays within it unless the pattern is ten times the usual size.
MAX_WORK = 10_000_000
# The NFA in Python takes so many times as long as RE2's.
_PYTHON_COST = 50


@dataclass(frozen=True)
class Engines:
    """The engines of one pattern, which are built when a text needs them."""

    node: Node
    max_memory: int  # of each program

    def spans(self, data: bytes, *, one_a_line: bool = False) -> Iterator[Span]:
        """Yield the byte spans of all matches, however long that takes."""
        if self.needle:
            return find_all(self.needle, data, one_a_line)
        engine, _ = self.select(data, data.isascii())
        return engine(data, 0, len(data) - data.endswith(b"\n"), one_a_line)

    def select(self, data: bytes, is_ascii: bool) -> tuple[Engine, int]:
        """Return the cheapest engine that is correct for this text, and how many bytes it may match at once.

        Of a Unicode table few instructions are active at once, so they are counted as those of ASCII.
        """
        longest = self.longest
        if is_ascii:
            return self.ascii_engine, longest
        if not self._has_boundary or _non_ascii_word().search(data) is None:
            return partial(_regex_spans, self._unicode_regex, longest), longest
        if self._whole_word is not None:
            return partial(_whole_words, self._candidate_regex, *self._whole_word), longest
        return partial(self._verified_spans, longest), max(longest // _PYTHON_COST, 1)

    def _verified_spans(
        self, longest: int, data: bytes, start: int, end: int, one_a_line: bool
    ) -> Iterator[Span]:
        r"""Match Unicode \b: find candidate lines without it, then verify each of them."""
        line_end = -1
        for low, _ in _regex_spans(self._candidate_regex, longest, data, start, end, one_a_line=True):
            if low <= line_end:
                continue
            line_start, line_end = line_around(data, low)
            line = data[line_start:line_end]
            if _non_ascii_word().search(line) is None:
                spans = _regex_spans(self._unicode_regex, longest, line, 0, len(line), one_a_line)
            else:
                spans = self._nfa_spans(line)
            yield from ((line_start + low, line_start + high) for low, high in spans)

    def _nfa_spans(self, line: bytes) -> Iterator[Span]:
        """Match one line with the NFA; return spans in bytes."""
        text = line.decode(errors="surrogateescape")
        return running_lengths(
            self._nfa.spans(text), lambda a, b: len(text[a:b].encode(errors="surrogateescape"))
        )

    @cached_property
    def sizes(self) -> dict[bool, int]:
        """Instructions of the program for texts beyond ASCII (False) and within it (True)."""
        return {ascii_text: program_size(self.node, ascii_text=ascii_text) for ascii_text in (False, True)}

    @cached_property
    def longest(self) -> int:
        """How many bytes one call of RE2 may match."""
        return max(MAX_WORK // self.sizes[True], 1)

    @cached_property
    def ascii_engine(self) -> Engine:
        """The engine for ASCII."""
        return partial(_regex_spans, self._ascii_regex, self.longest)

    @cached_property
    def needle(self) -> bytes | None:
        """The bytes to search for, if the pattern is a case-sensitive literal."""
        text = literal_text(self.node)
        return text.encode() if text else None

    @cached_property
    def _has_boundary(self) -> bool:
        return has_boundary(self.node)

    @cached_property
    def _whole_word(self) -> tuple[bool, bool] | None:
        return whole_word(self.node)

    @cached_property
    def _ascii_regex(self) -> re2_engine.Regex:
        return self._translated(ascii_text=True)

    @cached_property
    def _unicode_regex(self) -> re2_engine.Regex:
        return self._translated(ascii_text=False)

    @cached_property
    def _candidate_regex(self) -> re2_engine.Regex:
        return self._translated(ascii_text=False, boundaries=False)

    @cached_property
    def _nfa(self) -> Nfa:
        from dowse.query.regex.nfa import Nfa

        return Nfa(self.node)

    def _translated(self, *, ascii_text: bool, boundaries: bool = True) -> re2_engine.Regex:
        from dowse.query.regex.translate import to_re2

        pattern = to_re2(self.node, ascii_text=ascii_text, boundaries=boundaries)
        return re2_engine.compile_re2(pattern, max_memory=self.max_memory)


def line_around(data: bytes, at: int) -> Span:
    """Return start and end of the line at a place."""
    end = data.find(b"\n", at)
    return data.rfind(b"\n", 0, at) + 1, len(data) if end < 0 else end


def running_lengths(spans: Iterable[Span], measure: Callable[[int, int], int]) -> Iterator[Span]:
    """Convert ordered spans between bytes and characters in one pass over the line."""
    here = there = 0
    for low, high in spans:
        start = there + measure(here, low)
        there = start + measure(low, high)
        here = high
        yield start, there


def find_all(needle: bytes, data: bytes, one_a_line: bool) -> Iterator[Span]:
    """Yield the occurrences of a string."""
    size, count = len(needle), 0
    at = data.find(needle)
    while at >= 0:
        yield at, at + size
        count += 1
        start = at + size
        if count > (MAX_EMPTY if one_a_line else MAX_MATCHES):
            deadline.check()
            start = data.find(b"\n", start)
            if start < 0:
                break
        at = data.find(needle, start)


def _regex_spans(
    regex: re2_engine.Regex, longest: int, data: bytes, start: int, end: int, one_a_line: bool
) -> Iterator[Span]:
    """Yield matches as Rust's regex crate does: no empty match after another one or inside a character.

    One match a line takes one pass over the text, but each of all matches may take one to the end of its
    line: then the deadline is checked.
    """
    last, empty, count = -1, 0, 0
    unchecked = max(1, longest // max(1, end - start))
    position = start
    while position >= 0:
        matches = regex.finditer(data, position, end)
        position = -1
        for match in matches:
            low, high = match.span()
            if not one_a_line:
                count += 1
                if count % unchecked == 0:
                    deadline.check()
            if low == high:
                if low == last or (low < end and data[low] & 0xC0 == 0x80):
                    continue
                empty += 1
            last = high
            yield low, high
            if one_a_line or count > MAX_MATCHES or (low == high and empty > MAX_EMPTY):
                position = data.find(b"\n", low, end) + 1 or -1
                break


def _whole_words(
    regex: re2_engine.Regex, before: bool, after: bool, data: bytes, start: int, end: int, one_a_line: bool
) -> Iterator[Span]:
    r"""Yield the occurrences of a literal with a word boundary where one is required."""
    count = 0
    match = regex.search(data, start, end)
    while match is not None:
        low, high = match.span()
        if (not before or _is_boundary(data, low)) and (not after or _is_boundary(data, high)):
            yield low, high
            low = high - 1
            count += 1
        if count > (MAX_EMPTY if one_a_line else MAX_MATCHES):
            deadline.check()
            low = data.find(b"\n", low, end)
            if low < 0:
                break
        match = regex.search(data, low + 1, end)


def _is_boundary(data: bytes, at: int) -> bool:
    r"""Whether Unicode's \b holds between two characters of the text."""
    start = max(at - 1, 0)
    while start > 0 and data[start] & 0xC0 == 0x80:
        start -= 1
    left, right = data[start:at], data[at : at + 4]
    return _is_word(left.decode(errors="replace")[:1]) != _is_word(right.decode(errors="replace")[:1])


@lru_cache(maxsize=4096)
def _is_word(char: str) -> bool:
    """Whether a character is a word character; False for an empty string."""
    if char.isascii():
        return char.isalnum() or char == "_"
    return _non_ascii_word().search(char.encode()) is not None


@lru_cache(maxsize=1)
def _non_ascii_word() -> re2_engine.Regex:
    r"""Find a word character outside ASCII: only next to one does RE2's \b differ from Unicode's."""
    from dowse.query.regex.translate import render_class

    outside = SetOperation("--", Perl("w", False), (0, 0x7F))
    return re2_engine.compile_re2(render_class(CharClass(CharSet((outside,))), ascii_text=False))
