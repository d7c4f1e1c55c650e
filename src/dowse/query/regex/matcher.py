"""Exact matching with the results of ripgrep: by line, in time linear in the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING
from typing import Literal as Choice

from dowse.errors import QueryError
from dowse.query.ast import Phrase, Regex
from dowse.query.regex import re2_engine
from dowse.query.regex.ast import (
    CharClass,
    CharSet,
    Concat,
    Literal,
    Node,
    Perl,
    SetOperation,
    has_boundary,
    literal_text,
    whole_word,
)
from dowse.query.regex.parser import NO_NEWLINE, folds_smartly, parse_regex
from dowse.types import LineMatch, Span

if TYPE_CHECKING:
    from dowse.query.regex.nfa import Nfa

Case = Choice["sensitive", "insensitive", "smart"]
# After this many empty matches in one text, one per line is enough: they show nothing.
MAX_EMPTY = 1000
BOM = b"\xef\xbb\xbf"


# Few: each may hold automata of some megabytes (re2_engine.MAX_MEMORY at most).
@lru_cache(maxsize=8)
def compile_pattern(pattern: str, *, literal: bool = False, case: Case = "smart") -> Pattern:
    """Compile a regex in Rust's syntax, or a literal string; smart case as in `rg -S`."""
    if any("\ud800" <= char <= "\udfff" for char in pattern):
        raise QueryError("the pattern holds half a surrogate pair; remove the broken character")
    if literal:
        return Pattern(_literal_node(pattern, case))
    fold = case == "insensitive" or (case == "smart" and folds_smartly(pattern))
    compiled = Pattern(parse_regex(pattern, fold=fold))
    compiled.check()
    return compiled


def compile_leaf(leaf: Phrase | Regex, case: bool | None = None) -> Pattern:
    """Compile a phrase or regex of a query; `case` is Query.case: True for case:yes, None for smart case."""
    mode: Case = "smart" if case is None else "sensitive" if case else "insensitive"
    if isinstance(leaf, Phrase):
        return compile_pattern(leaf.text, literal=True, case=mode)
    return compile_pattern(leaf.pattern, case="insensitive" if leaf.ignore_case else mode)


@dataclass(frozen=True)
class Pattern:
    """A compiled pattern; its engines are built when a text needs them."""

    node: Node

    def find_lines(self, text: str | bytes, *, one_a_line: bool = False) -> list[LineMatch]:
        """Return every line with a match, with all matches in it; a carriage return stays in the line.

        With `one_a_line`, the first match of a line may be all that is given.
        """
        data = _as_bytes(text)
        return _by_line(data, self._spans(data, one_a_line=one_a_line)) if data else []

    def line_numbers(self, text: str | bytes) -> list[int]:
        """Return the numbers of the lines with a match: cheaper than `find_lines` where there are many."""
        data = _as_bytes(text)
        numbers: list[int] = []
        number, counted, end = 1, 0, -1
        for low, _ in self._spans(data, one_a_line=True) if data else ():
            if low > end:
                number += data.count(b"\n", counted, low)
                counted = low
                numbers.append(number)
                end = data.find(b"\n", low)
                if end < 0:
                    break
        return numbers

    def check(self) -> None:
        """Raise the error that running the pattern would raise."""
        if self._needle is None:
            self._ascii_regex.search(b"")

    def _spans(self, data: bytes, *, one_a_line: bool = False) -> Iterator[Span]:
        """Yield the byte spans of all matches, from the cheapest engine that is correct for this text.

        The first match of a line may be all of that line, which is much quicker where most characters match.
        """
        end = len(data) - data.endswith(b"\n")  # nothing follows the last line feed
        if self._needle:
            return _find_all(self._needle, data)
        if data.isascii():
            return _regex_spans(self._ascii_regex, data, end, one_a_line)
        if not self._has_boundary or _non_ascii_word().search(data) is None:
            return _regex_spans(self._unicode_regex, data, end, one_a_line)
        if self._whole_word is not None:
            return _whole_words(self._candidate_regex, data, end, *self._whole_word)
        return self._verified_spans(data, end)

    def _verified_spans(self, data: bytes, end: int) -> Iterator[Span]:
        r"""Match Unicode \b: find candidate lines without it, then verify each of them."""
        line_end = -1
        for start, _ in _regex_spans(self._candidate_regex, data, end, one_a_line=True):
            if start <= line_end:
                continue
            line_start, line_end = _line_around(data, start)
            line = data[line_start:line_end]
            if _non_ascii_word().search(line) is None:
                spans = _regex_spans(self._unicode_regex, line, len(line))
            else:
                spans = self._nfa_spans(line)
            yield from ((line_start + low, line_start + high) for low, high in spans)

    def _nfa_spans(self, line: bytes) -> Iterator[Span]:
        """Match one line with the NFA; return spans in bytes."""
        text = line.decode(errors="surrogateescape")
        return _running_lengths(
            self._nfa.spans(text), lambda a, b: len(text[a:b].encode(errors="surrogateescape"))
        )

    @cached_property
    def _needle(self) -> bytes | None:
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

        return re2_engine.compile_re2(to_re2(self.node, ascii_text=ascii_text, boundaries=boundaries))


def _literal_node(text: str, case: Case) -> Node:
    if "\n" in text:
        raise QueryError(NO_NEWLINE, text.index("\n"))
    fold = case == "insensitive" or (case == "smart" and not any(char.isupper() for char in text))
    return Concat(tuple(Literal(char, fold) for char in text))


def _as_bytes(text: str | bytes) -> bytes:
    """Return UTF-8 without a byte order mark, which ripgrep ignores too."""
    data = text.encode(errors="replace") if isinstance(text, str) else text
    return data.removeprefix(BOM)


def _find_all(needle: bytes, data: bytes) -> Iterator[Span]:
    size = len(needle)
    at = data.find(needle)
    while at >= 0:
        yield at, at + size
        at = data.find(needle, at + size)


def _regex_spans(regex: re2_engine.Regex, data: bytes, end: int, one_a_line: bool = False) -> Iterator[Span]:
    """Yield matches as Rust's regex crate does: no empty match after another one or inside a character."""
    last, empty = -1, 0
    position = 0
    while position >= 0:
        matches = regex.finditer(data, position, end)
        position = -1
        for match in matches:
            low, high = match.span()
            if low == high:
                if low == last or (low < end and data[low] & 0xC0 == 0x80):
                    continue
                empty += 1
            last = high
            yield low, high
            if one_a_line or (low == high and empty > MAX_EMPTY):
                position = data.find(b"\n", low, end) + 1 or -1
                break


def _whole_words(regex: re2_engine.Regex, data: bytes, end: int, before: bool, after: bool) -> Iterator[Span]:
    r"""Yield the occurrences of a literal with a word boundary where one is required."""
    match = regex.search(data, 0, end)
    while match is not None:
        low, high = match.span()
        if (not before or _is_boundary(data, low)) and (not after or _is_boundary(data, high)):
            yield low, high
            low = high - 1
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


def _line_around(data: bytes, at: int) -> Span:
    end = data.find(b"\n", at)
    return data.rfind(b"\n", 0, at) + 1, len(data) if end < 0 else end


def _by_line(data: bytes, spans: Iterator[Span]) -> list[LineMatch]:
    """Group matches, which come in order, by line."""
    lines: list[LineMatch] = []
    number, start, end = 1, 0, -1
    inside: list[Span] = []
    for low, high in spans:
        if low > end:
            if inside:
                lines.append(_line_match(number, data[start:end], inside))
            new_start, end = _line_around(data, low)
            number += data.count(b"\n", start, new_start)
            start, inside = new_start, []
        inside.append((low - start, high - start))
    if inside:
        lines.append(_line_match(number, data[start:end], inside))
    return lines


def _line_match(number: int, line: bytes, spans: list[Span]) -> LineMatch:
    """Convert a line and its matches from bytes to characters."""
    text = line.decode(errors="replace")
    if len(text) != len(line):
        spans = list(_running_lengths(spans, lambda a, b: len(line[a:b].decode(errors="replace"))))
    return LineMatch(number, text, tuple(spans))


def _running_lengths(spans: Iterable[Span], measure: Callable[[int, int], int]) -> Iterator[Span]:
    """Convert ordered spans between bytes and characters in one pass over the line."""
    here = there = 0
    for low, high in spans:
        start = there + measure(here, low)
        there = start + measure(low, high)
        here = high
        yield start, there
