"""The code that writes a message: the symbols with literals that stand in a question, values filled in.

Trigrams of some words in sequence select files; only where one of these stands in a file's text, literals are
read. A question in prose has hardly a file that holds four of its words in sequence, and ends there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dowse import deadline
from dowse.errors import TooSlow
from dowse.query.literals import Match, align, is_content, message_tokens, read_literals
from dowse.query.regex.trigrams import And, Or, Trigram
from dowse.search.frames import LocatedHit
from dowse.search.ranking.signals import RankedHit
from dowse.storage.protocol import Reader
from dowse.storage.symbol_lines import SymbolLines, assign_to_symbols
from dowse.types import SymbolRow

# Words in sequence that select files, from many to few: values that a program filled in break some of them.
_SIZES = (4, 3, 2)
# Of a question without the signs of output, only so many in sequence.
_PLAIN_SIZE = 4
# Sequences that are looked up, and files that are read, for output and for plain words.
_MAX_PARTS, _MAX_FILES, _MAX_PLAIN_FILES = 24, 40, 4
# Places of a file, by how many parts they hold, and lines around each.
_MAX_PLACES, _LINES_BEFORE, _LINES_BEHIND = 6, 4, 10
# A message that so many symbols hold is nobody's own.
_MAX_HITS = 5
# A symbol counts if its literal agrees nearly as well as the best one; code, if it does so at all.
_SHARE_OF_BEST, _SHARE_OF_CODE = 0.9, 0.6
_QUESTION = re.compile(
    r"(?:how|where|what|which|who|when|why|does|do|is|are|can|should|find|show|list|explain)\b|.*\?\s*$",
    re.IGNORECASE | re.DOTALL,
)
# What programs print and people leave out: quotes, brackets, numbers, a sentence's capital or full stop.
_OUTPUT = re.compile(r"[:=\[\](){}<>%\"`\\$@|]|\B'|'\B|\d|^\W|^[A-Z]|\.\s*$")
_COMMENT = re.compile(r"\s*(?://|/?\*|#|--|<!--|;|%)")
# Formats whose values stand without quotes.
_UNQUOTED = frozenset(["yaml", "toml", "ini", "properties", "xml"])
_CODE_ROLES = ("", "generated", "vendored")


class MessageSource(NamedTuple):
    """A symbol that a message may come from."""

    score: float
    hit: LocatedHit


class _Place(NamedTuple):
    """A line of a file, and how well its literal agrees."""

    line: int
    match: Match
    is_literal: bool


def find_message(reader: Reader, text: str, seconds: float, *, is_error: bool = False) -> list[MessageSource]:
    """Return the symbols that a message may come from, each with how much of it they explain; best first.

    Code comes before tests, and both before documentation and comments, which often quote a message.

    Args:
        reader: The generation.
        text: What was asked.
        seconds: Limit of the whole.
        is_error: Whether it was recognised as a message; else much more of it has to agree.
    """
    tokens = message_tokens(text)
    is_output = is_error or bool(_OUTPUT.search(text) and not _QUESTION.match(text))
    if len(tokens) < 3:
        return []
    try:
        with deadline.time_limit(seconds):
            for size in _SIZES if is_output else (_PLAIN_SIZE,):
                parts = message_parts(text, size)
                found = _find_places(reader, tokens, parts, is_output=is_output)
                if found:
                    return _best(reader, found)
    except TooSlow:
        deadline.check()
    return []


def in_order(sources: Sequence[MessageSource], hits: Sequence[RankedHit]) -> list[LocatedHit]:
    """Return the symbols of a message; among equals the order of the other hits decides."""
    ranks = {hit.row.row: rank for rank, hit in enumerate(hits)}
    ordered = sorted(sources, key=lambda each: (-each.score, ranks.get(each.hit.row.row, len(ranks))))
    return [each.hit for each in ordered]


def message_parts(text: str, size: int) -> list[str]:
    """Return so many words in sequence, as they stand in a text, wherever no sign is between them."""
    parts: list[str] = []
    for plain in re.findall(r"[^\W\d_](?:[\w,'-]*\w)?(?: [^\W_](?:[\w,'-]*\w)?)+", text):
        words = plain.split(" ")
        count = min(size, len(words)) if size > 2 and len(words) > 2 else size
        parts += [" ".join(words[first : first + count]) for first in range(len(words) - count + 1)]
    parts = [part for part in dict.fromkeys(parts) if any(is_content(word) for word in part.split(" "))]
    step = -(-len(parts) // _MAX_PARTS) or 1
    return parts[::step]


def _find_places(
    reader: Reader, tokens: Sequence[str], parts: Sequence[str], *, is_output: bool
) -> list[tuple[int, _Place]]:
    """Return (file, place) of what explains the message."""
    if not parts:
        return []
    files = reader.trigram_candidates(Or(tuple(map(_trigrams, parts))))
    files = files[: _MAX_FILES if is_output else _MAX_PLAIN_FILES]
    found: list[tuple[int, _Place]] = []
    for file_id, data in reader.texts(files):
        deadline.check()
        source = data.decode("utf-8", "replace")
        found += ((file_id, place) for place in _places(source, tokens, parts) if _is_enough(place, is_output))
    return found


def _trigrams(part: str) -> And:
    folded = part.lower()
    distinct = dict.fromkeys(folded[i : i + 3] for i in range(len(folded) - 2))
    return And(tuple(Trigram(each) for each in distinct if each.isascii()))


def _places(source: str, tokens: Sequence[str], parts: Sequence[str]) -> Iterator[_Place]:
    """Yield the literals, or else lines, that hold parts of the message."""
    counts: dict[int, int] = {}
    for part in parts:
        at = source.find(part)
        while at >= 0 and len(counts) < 1_000:
            start = source.rfind("\n", 0, at) + 1
            counts[start] = counts.get(start, 0) + 1
            at = source.find(part, at + 1)
    for start in sorted(counts, key=lambda each: -counts[each])[:_MAX_PLACES]:
        first = start
        for _ in range(_LINES_BEFORE):
            first = source.rfind("\n", 0, max(0, first - 1)) + 1
        end = start
        for _ in range(_LINES_BEHIND):
            end = source.find("\n", end) + 1 or len(source)
        line_end = source.find("\n", start) + 1 or len(source)
        lineno = source.count("\n", 0, start) + 1
        literals = [
            each
            for each in read_literals(source[first:end])
            if first + each.end > start and first + each.start < line_end and any(part in each.text for part in parts)
        ]
        for literal in literals:
            begin = source.count("\n", 0, first + literal.start) + 1
            yield _Place(begin, align(tokens, literal.text), is_literal=True)
        if not literals:
            yield _Place(lineno, align(tokens, source[start:line_end]), is_literal=False)


def _is_enough(place: _Place, is_output: bool) -> bool:
    """Whether so much agrees that it is no accident."""
    match = place.match
    if not place.is_literal:
        return match.content >= 5 and match.run >= 5
    if is_output:
        return (match.share >= 0.75 and match.words >= 3 and match.content >= 2) or match.run >= 5
    return match.run >= 3 and ((match.whole and match.share >= 0.5) or match.run >= 6)


def _best(reader: Reader, found: Sequence[tuple[int, _Place]]) -> list[MessageSource]:
    """Return the symbols of the best places, code first."""
    ranges = dict(reader.symbol_ranges([file_id for file_id, _ in found]))
    by_row: dict[int, _Place] = {}
    for file_id, place in found:
        lines: SymbolLines = {}
        assign_to_symbols(file_id, ranges[file_id], [place.line], lines)
        for _, row in lines:
            known = by_row.get(row)
            if row and (known is None or place.match.score > known.match.score):
                by_row[row] = place
    rows = {row.row: row for row in reader.rows(list(by_row))}
    best = max((place.match.score for place in by_row.values()), default=0.0)
    tiers: dict[int, list[int]] = {}
    for number, place in by_row.items():
        if place.match.score >= _SHARE_OF_CODE * best:
            tiers.setdefault(_tier(rows[number], place), []).append(number)
    chosen: list[int] = tiers[min(tiers)] if tiers else []
    best = max((by_row[number].match.score for number in chosen), default=0.0)
    chosen = [number for number in chosen if by_row[number].match.score >= _SHARE_OF_BEST * best]
    if len([number for number in chosen if by_row[number].match.score == best]) > _MAX_HITS:
        return []
    chosen.sort(key=lambda number: (-by_row[number].match.score, rows[number].path, by_row[number].line))
    return [
        MessageSource(by_row[number].match.score, LocatedHit(rows[number], by_row[number].line, "message", _detail(by_row[number])))
        for number in chosen[:_MAX_HITS]
    ]


def _tier(row: SymbolRow, place: _Place) -> int:
    """Return 0 for code, 1 for tests and examples, 2 for documentation and comments."""
    if not place.is_literal or row.role == "docs" or row.kind in ("section", "text"):
        return 2
    return 0 if row.role in _CODE_ROLES else 1


def _detail(place: _Place) -> str:
    return f"holds {place.match.words} of its words"
