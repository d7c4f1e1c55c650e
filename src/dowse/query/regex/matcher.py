"""Exact matching with the results of ripgrep: by line, in time linear in the text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Literal as Choice

from dowse import deadline
from dowse.errors import QueryError
from dowse.lazy_classes import dataclass
from dowse.query.ast import Phrase, Regex
from dowse.query.regex.ast import Concat, Literal, Node
from dowse.query.regex.engines import Engine, Engines, find_all, line_around, running_lengths
from dowse.query.regex.parser import NO_NEWLINE, folds_smartly, parse_regex
from dowse.query.regex.re2_engine import MAX_MEMORY
from dowse.types import LineMatch, Span

Case = Choice["sensitive", "insensitive", "smart"]
# Instructions of a larger program take milliseconds to compile, and the interpreter waits for that.
MAX_PROGRAM = 5_000
BOM = b"\xef\xbb\xbf"


# Few: each may hold automata of some megabytes (`re2_engine.MAX_MEMORY` for each of its engines).
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
    """A compiled pattern. What may take long is left to a process that can be ended (`match_pool`)."""

    node: Node

    def find_lines(self, text: str | bytes, *, one_a_line: bool = False) -> list[LineMatch]:
        """Return every line with a match, with all matches in it; a carriage return stays in the line.

        With `one_a_line`, the first match of a line may be all that is given.
        """
        data = _as_bytes(text)
        return _by_line(data, self.spans(data, one_a_line=one_a_line)) if data else []

    def line_numbers(self, text: str | bytes) -> list[int]:
        """Return the numbers of the lines with a match: cheaper than `find_lines` where there are many."""
        data = _as_bytes(text)
        numbers: list[int] = []
        number, counted, end = 1, 0, -1
        for low, _ in self.spans(data, one_a_line=True) if data else ():
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
        next(self.spans(b"\n"), None)

    def spans(self, data: bytes, *, one_a_line: bool = False) -> Iterator[Span]:
        """Yield the byte spans of all matches.

        With `one_a_line`, the first match of a line may be all that is given: much quicker where most
        characters match.
        """
        engines = self.engines
        if engines.needle:
            return find_all(engines.needle, data, one_a_line)
        is_ascii, end = data.isascii(), len(data) - data.endswith(b"\n")  # nothing follows the last line feed
        if engines.sizes[is_ascii] > MAX_PROGRAM:
            return self._spans_apart(data, one_a_line)
        engine, longest = engines.select(data, is_ascii)
        if end <= longest:
            return engine(data, 0, end, one_a_line)
        return self._spans_in_parts(engine, data, end, one_a_line, longest)

    @cached_property
    def engines(self) -> Engines:
        """What matches texts in this process."""
        return Engines(self.node, MAX_MEMORY)

    def _spans_in_parts(
        self, engine: Engine, data: bytes, end: int, one_a_line: bool, longest: int
    ) -> Iterator[Span]:
        """Match some lines at a time; a line that is too long goes to another process."""
        start = 0
        while start <= end:
            deadline.check()
            stop = end if end - start <= longest else data.rfind(b"\n", start, start + longest)
            if stop >= 0:
                yield from engine(data, start, stop, one_a_line)
            else:
                stop = data.find(b"\n", start, end)
                stop = end if stop < 0 else stop
                for low, high in self._spans_apart(memoryview(data)[start:stop], one_a_line):
                    yield start + low, start + high
            start = stop + 1

    def _spans_apart(self, data: bytes | memoryview, one_a_line: bool) -> Iterator[Span]:
        from dowse.query.regex.match_pool import find_spans

        return iter(find_spans(self.node, data, one_a_line))


def _literal_node(text: str, case: Case) -> Node:
    if "\n" in text:
        raise QueryError(NO_NEWLINE, text.index("\n"))
    fold = case == "insensitive" or (case == "smart" and not any(char.isupper() for char in text))
    return Concat(tuple(Literal(char, fold) for char in text))


def _as_bytes(text: str | bytes) -> bytes:
    """Return UTF-8 without a byte order mark, which ripgrep ignores too."""
    data = text.encode(errors="replace") if isinstance(text, str) else text
    return data.removeprefix(BOM)


def _by_line(data: bytes, spans: Iterator[Span]) -> list[LineMatch]:
    """Group matches, which come in order, by line."""
    lines: list[LineMatch] = []
    number, start, end = 1, 0, -1
    inside: list[Span] = []
    for low, high in spans:
        if low > end:
            if inside:
                lines.append(_line_match(number, data[start:end], inside))
            new_start, end = line_around(data, low)
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
        spans = list(running_lengths(spans, lambda a, b: len(line[a:b].decode(errors="replace"))))
    return LineMatch(number, text, tuple(spans))
