"""Snippets: the lines of a symbol that match a query best."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from dowse.parsing.tokenizer import tokenize
from dowse.types import Hit

Line = tuple[int, str]  # its number in the file, and its text
# How many more terms a window must match to win over the beginning: the signature says most.
_BEGINNING_BONUS = 1.5


class Snippet:
    """The lines that can be shown of a symbol, and a choice among them."""

    def __init__(self, lines: Sequence[Line], terms: frozenset[str] = frozenset()) -> None:
        self.lines = lines
        self._terms = terms

    @classmethod
    def from_hit(cls, hit: Hit, terms: frozenset[str]) -> Snippet:
        """Return that of a hit: the lines that a pattern matched, else all that are not blank."""
        if hit.matches:
            return cls([(match.line, match.text) for match in hit.matches])
        lines = [(number, text) for number, text in hit.symbol.numbered_lines if text.strip()]
        if hit.symbol.kind == "module":  # the code outside all definitions: mostly imports
            lines = [(number, text) for number, text in lines if terms.intersection(tokenize(text))]
        return cls(lines, terms)

    def select(self, count: int) -> list[Line]:
        """Return so many lines, in order: the first, and the window that matches most terms of the query."""
        lines = self.lines
        if len(lines) <= count or count < 2:
            return list(lines[:count])
        matches = self._matches
        best, best_score = 0, sum(matches[:count]) + _BEGINNING_BONUS
        # Windows are one line shorter, because the first line is always shown.
        inside = sum(matches[1:count])
        for start in range(2, len(lines) - count + 2):
            inside += matches[start + count - 2] - matches[start - 1]
            if matches[0] + inside > best_score:
                best, best_score = start, matches[0] + inside
        return [lines[0], *lines[best : best + count - 1]] if best else list(lines[:count])

    @cached_property
    def _matches(self) -> list[int]:
        """How many terms of the query each line has."""
        if not self._terms:
            return [0] * len(self.lines)
        return [len(self._terms.intersection(tokenize(text))) for _, text in self.lines]
