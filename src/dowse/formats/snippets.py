"""Which lines of a hit are shown: the definition, the lines that match best, and lines around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from dowse.lazy_classes import NamedTuple
from dowse.types import Hit, Symbol, SymbolRow

# Lines of a snippet unless --snippet-lines sets another number.
SNIPPET_LINES = 5
# How many more terms of the query lines elsewhere need to replace those beside the definition.
_DEFINITION_BONUS = 1.5

NumberedLine = tuple[int, str]


class Window(NamedTuple):
    """How much of a hit is shown."""

    lines: int = SNIPPET_LINES  # of a snippet
    context: tuple[int, int] | None = None  # instead: lines before and after each match
    file_lines: Callable[[Symbol], Mapping[int, str]] = lambda symbol: dict(symbol.numbered_lines)


def definition_line(symbol: Symbol | SymbolRow, lines: Sequence[NumberedLine]) -> int:
    """Return the position of the line that defines a symbol: comments and decorators may precede it.

    It holds the name, as documentation may too; of several such lines it is the one in the signature.
    """
    if not symbol.name or not lines:
        return 0
    named = [at for at, (_, text) in enumerate(lines) if find_name(text, symbol.name) >= 0]
    signature = " ".join(symbol.signature.split())
    for at in named:
        line = " ".join(lines[at][1].split())
        if signature and (signature in line or line.rstrip(" {:(,;=") in signature):
            return at
    return named[0] if named else 0


def find_name(text: str, name: str) -> int:
    """Return where a name is in a text as a whole word; -1 if it is not.

    Without a regex: compiling one for each symbol of an answer takes longer than all else here.
    """
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (_is_word(text[at - 1 : at]) or _is_word(text[end : end + 1])):
            return at
        at = text.find(name, at + 1)
    return -1


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum()


def snippet(
    hit: Hit, terms: frozenset[str], window: Window, tokenize: Callable[[str], list[str]]
) -> list[NumberedLine]:
    """Return the lines of a symbol that tell most: its definition, and where the terms of the query are."""
    lines = [(number, line) for number, line in hit.symbol.numbered_lines if line.strip()]
    if not lines or not window.lines:
        return []
    definition = definition_line(hit.symbol, lines)
    counts = [len(terms.intersection(tokenize(text))) for _, text in lines]
    if window.context:
        best = max(range(len(lines)), key=lambda at: (counts[at], at == definition))
        return around([lines[best][0]], [lines[definition]], window.file_lines(hit.symbol), window.context)
    if len(lines) <= window.lines:
        return lines
    others = _best_others(counts, definition, window.lines - 1)
    return [lines[at] for at in sorted({definition, *others})]


def around(
    numbers: Sequence[int],
    always: Sequence[NumberedLine],
    lines: Mapping[int, str],
    context: tuple[int, int],
) -> list[NumberedLine]:
    """Return lines with so many lines before and after them, each once and in order."""
    before, after = context
    shown = dict(always)
    for number in numbers:
        for near in range(number - before, number + after + 1):
            if near in lines:
                shown[near] = lines[near]
    return sorted(shown.items())


def with_gaps(shown: Sequence[NumberedLine], symbol: Symbol) -> list[NumberedLine | None]:
    """Return lines with None where others were skipped; blank lines do not count."""
    if not shown:
        return []
    blank = {number for number, text in symbol.numbered_lines if not text.strip()}
    result: list[NumberedLine | None] = [shown[0]]
    for (last, _), line in pairwise(shown):
        if any(number not in blank for number in range(last + 1, line[0])):
            result.append(None)
        result.append(line)
    return result


def _best_others(counts: Sequence[int], definition: int, count: int) -> range:
    """Return the run of lines with the most terms; beside the definition unless another is clearly better."""
    beside = 0 if definition <= count else definition
    beside = min(beside, len(counts) - count - 1)
    best, best_score = range(beside, beside + count + 1), sum(counts[beside : beside + count + 1])
    limit = best_score - counts[definition] + _DEFINITION_BONUS
    for start in range(len(counts) - count + 1):
        score = sum(counts[start : start + count])
        if definition not in range(start, start + count) and score > limit:
            best, limit = range(start, start + count), float(score)
    return best
