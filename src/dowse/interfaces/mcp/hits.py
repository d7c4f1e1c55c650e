"""Hits as text within a token budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from dowse.formats.text import also_in_line, format_percent
from dowse.interfaces.mcp.budget import PREVIEW_LINES, allocate_lines, truncate_line
from dowse.interfaces.mcp.frame import FRAME_BYTES, frame, quote_name
from dowse.lazy_classes import dataclass
from dowse.parsing.tokenizer import tokenize
from dowse.security.terminal import escape_controls, escape_name
from dowse.token_estimate import BYTES_PER_TOKEN, byte_length
from dowse.types import Hit, Symbol, SymbolRow

Line = tuple[int, str]  # its number in the file, and its text

# How many more terms a window must match to win over the beginning: the signature says most.
_BEGINNING_BONUS = 1.5


class Snippet:
    """The lines that can be shown of a symbol, and a choice among them."""

    def __init__(self, lines: Sequence[Line], terms: frozenset[str] = frozenset()) -> None:
        self.lines = lines
        self.terms = terms

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
        if not self.terms:
            return [0] * len(self.lines)
        return [len(self.terms.intersection(tokenize(text))) for _, text in self.lines]


# Characters of a signature beside a name.
_SIGNATURE_CHARACTERS = 160
# Lines of the first hit in an answer with snippets, and of each other: with more, fewer hits fit, and the
# right one is in the first answer less often (chosen by `bench/agent.py`).
_FIRST_LINES = 10
# More lines than any symbol has.
_ALL_LINES = 1_000_000


@dataclass(frozen=True, slots=True)
class ShownHit:
    """One hit with its index, and the lines of it that can be shown."""

    index: str
    hit: Hit
    snippet: Snippet

    @property
    def file(self) -> tuple[str, str]:
        """Its index, and its path there."""
        return self.index, self.hit.symbol.path


def hits_text(
    hits: Sequence[ShownHit],
    head: str,
    detail: str,
    max_tokens: int,
    several: bool,
    first: Sequence[str] = (),
    more: Callable[[int], str] | None = None,
) -> str:
    """Return a head and as many hits below it as fit the budget, and how to get what is omitted.

    Args:
        hits: The hits to show.
        head: Words of our own.
        detail: names, snippets or full.
        max_tokens: The budget.
        several: Whether each hit names its repository.
        first: Lines before the hits that quote the repository, and so belong into the frame.
        more: Returns the last line by the number of hits that are shown, "" for none.
    """
    more = more or (lambda shown: _omitted(len(hits) - shown, detail))
    fixed = "\n".join([head, *first, more(len(hits))])
    budget = max_tokens * BYTES_PER_TOKEN - byte_length(fixed) - 1 - FRAME_BYTES

    def cost(position: int, count: int) -> int:
        return byte_length(_hit_text(hits[position], count, several)) + 1

    counts = allocate_lines(*_line_limits(hits, detail), budget, cost, _order(hits))
    shown = [_hit_text(hit, count, several) for hit, count in zip(hits, counts, strict=False)]
    return "\n".join(filter(None, [head, *frame([*first, *shown]), more(len(counts))]))


def _line_limits(hits: Sequence[ShownHit], detail: str) -> tuple[list[int], list[int]]:
    """Return how many lines each hit gets before any gets more, and how many at most."""
    lengths = [len(hit.snippet.lines) for hit in hits]
    most = {"names": 0, "full": _ALL_LINES}.get(detail, PREVIEW_LINES)
    limits = [min(most, length) for length in lengths]
    if detail != "snippets":
        return [0] * len(hits), limits
    return limits, [min(_FIRST_LINES, length) for length in lengths[:1]] + limits[1:]


def _order(hits: Sequence[ShownHit]) -> list[int]:
    """Return the order in which hits get more lines: those in the file of the first, then as ranked.

    Questions about a topic are answered by most of a file; for others it makes no difference.
    """
    files = [hit.file for hit in hits]
    return sorted(range(len(hits)), key=lambda position: (files[position] != files[0], position))


def _omitted(count: int, detail: str) -> str:
    """Say that some hits did not fit, and the remedy."""
    if not count:
        return ""
    remedy = "raise max_tokens" if detail == "names" else "raise max_tokens or take detail=names"
    return f"({count} more hits did not fit: {remedy})"


def _hit_text(shown: ShownHit, count: int, several: bool) -> str:
    hit, symbol, lines = shown.hit, shown.hit.symbol, shown.snippet.lines
    location = f"{quote_name(symbol.path)}:{symbol.start_line}-{symbol.end_line}"
    name = "" if symbol.kind == "file" else f" {quote_name(symbol.qualified_name)}"
    if not count:
        name += call_signature(symbol)
    confidence = "" if hit.confidence is None else f" [{format_percent(hit.confidence)}]"
    cut = f" ({count} of {len(lines)} lines)" if 0 < count < len(lines) else ""
    index = f"{quote_name(shown.index)} " if several else ""
    head = f"{hit.rank}. {index}{location} {symbol.kind}{name}{confidence}{cut}"
    also_in = [escape_name(also_in_line(hit.also_in))] if hit.also_in else []
    return "\n".join([head, *numbered(shown.snippet.select(count)), *also_in])


def numbered(lines: Sequence[Line]) -> list[str]:
    """Return lines of code with their numbers; each stays one line to every reader and hides nothing."""
    return [f"{number}  {escape_controls(truncate_line(text))}" for number, text in lines]


def call_signature(symbol: Symbol | SymbolRow) -> str:
    """Return the part of a signature behind the name: parameters and return type."""
    signature, name = symbol.signature, symbol.name
    start = signature.find(name) if name else -1
    part = signature[start + len(name) :] if start >= 0 else ""
    if not part.startswith(("(", "<", "[", ":")):
        return ""
    part = part.replace("( ", "(").replace(", )", ")").replace(" )", ")")
    return escape_name(truncate_line(part, _SIGNATURE_CHARACTERS))
