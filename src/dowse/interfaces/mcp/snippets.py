"""The lines of a symbol that say most about a question."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from dowse.parsing.tokenizer import tokenize
from dowse.types import Hit

Line = tuple[int, str]  # its number in the file, and its text
# How much better than the beginning a window elsewhere must be: the signature tells most.
_BEGINNING = 1.5


class Snippet:
    """What can be shown of a symbol, and which lines to show if not all can be."""

    def __init__(self, lines: Sequence[Line], words: frozenset[str] = frozenset()) -> None:
        self.lines = lines
        self._words = words

    @classmethod
    def of(cls, hit: Hit, words: frozenset[str]) -> Snippet:
        """Return that of a hit: the lines that a pattern matched, else all of it that is not blank."""
        if hit.matches:
            return cls([(match.line, match.text) for match in hit.matches])
        lines = [(number, text) for number, text in hit.symbol.numbered_lines if text.strip()]
        if hit.symbol.kind == "module":  # what stands outside all definitions: mostly imports
            lines = [(number, text) for number, text in lines if words.intersection(tokenize(text))]
        return cls(lines, words)

    def pick(self, count: int) -> list[Line]:
        """Return so many lines, in their order: the first, and those that hold most words of a question."""
        lines = self.lines
        if len(lines) <= count or count < 2:
            return list(lines[:count])
        found = self._found
        best, best_score = 0, sum(found[:count]) + _BEGINNING
        # Windows of one line less, behind the first line, which is always shown.
        inside = sum(found[1:count])
        for start in range(2, len(lines) - count + 2):
            inside += found[start + count - 2] - found[start - 1]
            if found[0] + inside > best_score:
                best, best_score = start, found[0] + inside
        return [lines[0], *lines[best : best + count - 1]] if best else list(lines[:count])

    @cached_property
    def _found(self) -> list[int]:
        """How many words of the question each line holds."""
        if not self._words:
            return [0] * len(self.lines)
        return [len(self._words.intersection(tokenize(text))) for _, text in self.lines]


def words_of(query: str) -> frozenset[str]:
    """Return the words of a question as the index knows them."""
    return frozenset(tokenize(query))
