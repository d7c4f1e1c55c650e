"""The code that writes a message: the symbols with literals that stand in a question, values filled in.

Trigrams of some words in sequence select files; only where one of these stands in a file's text, literals are
read. A question in prose has hardly a file that holds four of its words in sequence, and ends there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dowse import deadline
from dowse.errors import TooSlow
from dowse.lazy_classes import NamedTuple
from dowse.query.literals import Match, align, is_content, message_tokens, read_literals
from dowse.query.regex.trigrams import And, Trigram
from dowse.search.frames import LocatedHit
from dowse.search.ranking.signals import RankedHit
from dowse.storage.protocol import Reader
from dowse.storage.symbol_lines import SymbolLines, assign_to_symbols
from dowse.types import SymbolRow

# Words in sequence that select files, from many to few: values that a program filled in break some of them.
_SIZES = (4, 3, 2, 1)
# Of a question without the signs of output, only so many in sequence.
_PLAIN_SIZE = 4
# Sequences that are looked up, and files that are read, for output and for plain words.
_MAX_PARTS, _MAX_PLAIN_PARTS, _MAX_FILES, _MAX_PLAIN_FILES = 12, 3, 30, 3
# Of plain words, a part that more files may hold is common English, and is not looked for.
_MAX_HOLDERS = 16
# Places of a file, by how many parts they hold, and lines around each.
_MAX_PLACES, _LINES_BEFORE, _LINES_BEHIND = 6, 4, 10
_MAX_LINES = 1_000
# A message that so many symbols hold is nobody's own.
_MAX_HITS = 5
# A symbol counts if its literal agrees nearly as well as the best one; code, if it does so at all.
_SHARE_OF_BEST, _SHARE_OF_CODE = 0.9, 0.6
_QUESTION = re.compile(
    r"(?:how|where|what|which|who|when|why|does|do|is|are|can|should|find|show|list|explain)\b(?!['’]t\b)|.*\?\s*$",
    re.IGNORECASE | re.DOTALL,
)
# What programs print and people leave out: quotes, brackets, numbers, a full stop.
_OUTPUT = re.compile(r":(?:\s|$)|[=\[\]{}<>%\"`\\|]|\B'\w|(?<!\w)\d|^[^\w/]|\.\s*$")
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
                parts = message_parts(text, size, _MAX_PARTS if is_output else _MAX_PLAIN_PARTS)
                if not is_output and _QUESTION.match(text):
                    parts = [" ".join(text.split())]  # all of it or nothing
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


def message_parts(text: str, size: int, limit: int = _MAX_PARTS) -> list[str]:
    """Return so many words in sequence, as they stand in a text, wherever no sign is between them."""
    parts = [word for word in re.findall(r"[^\W\d_]{5,}", text) if is_content(word)] if size == 1 else []
    for plain in re.findall(r"[^\W\d_](?:[\w,'-]*\w)?(?: [^\W_](?:[\w,'-]*\w)?)+", text) if size > 1 else ():
        words = plain.split(" ")
        count = min(size, len(words)) if size > 2 and len(words) > 2 else size
        parts += [" ".join(words[first : first + count]) for first in range(len(words) - count + 1)]
    parts = [part for part in dict.fromkeys(parts) if any(is_content(word) for word in part.split(" "))]
    step = -(-len(parts) // limit) or 1
    return [*parts[:-1:step], *parts[-1:]]


def _find_places(
    reader: Reader, tokens: Sequence[str], parts: Sequence[str], *, is_output: bool
) -> list[tuple[int, _Place]]:
    """Return (file, place) of what explains the message."""
    if not parts:
        return []
    needles = [part.encode("utf-8", "replace") for part in parts]
    found: list[tuple[int, _Place]] = []
    for file_id, data in reader.texts(_select_files(reader, parts, is_output=is_output)):
        deadline.check()
        found += (
            (file_id, place) for place in _places(data, tokens, needles) if _is_enough(place, is_output)
        )
    return found


def _select_files(reader: Reader, parts: Sequence[str], *, is_output: bool) -> list[int]:
    """Return the files that may hold most of the parts; a part that fewer hold counts more."""
    enough = None if is_output else _MAX_HOLDERS + 1
    holders = [reader.trigram_candidates(_trigrams(part), enough) for part in parts]
    if not is_output:
        holders = [files for files in holders if len(files) <= _MAX_HOLDERS]
    limit = _MAX_FILES if is_output else _MAX_PLAIN_FILES
    weights: dict[int, float] = {}
    for files in holders:
        for file_id in files:
            weights[file_id] = weights.get(file_id, 0.0) + 1 / len(files)
    return sorted(weights, key=lambda file_id: (-weights[file_id], file_id))[:limit]


def _trigrams(part: str) -> And:
    folded = part.lower()
    # Every third one, and the last: hardly less selective, and a third of the price.
    starts = (*range(0, len(folded) - 3, 3), len(folded) - 3)
    distinct = dict.fromkeys(folded[start : start + 3] for start in starts)
    return And(tuple(Trigram(each) for each in distinct if each.isascii()))


def _places(data: bytes, tokens: Sequence[str], parts: Sequence[bytes]) -> Iterator[_Place]:
    """Yield the literals, or else lines, that hold parts of the message."""
    counts: dict[int, int] = {}  # by the offset of a line
    for part in parts:
        at = data.find(part)
        while at >= 0 and len(counts) < _MAX_LINES:
            start = data.rfind(b"\n", 0, at) + 1
            counts[start] = counts.get(start, 0) + 1
            at = data.find(part, at + 1)
    for start in sorted(counts, key=lambda each: -counts[each])[:_MAX_PLACES]:
        first, end = start, start
        for _ in range(_LINES_BEFORE):
            first = data.rfind(b"\n", 0, max(0, first - 1)) + 1
        for _ in range(_LINES_BEHIND):
            end = data.find(b"\n", end) + 1 or len(data)
        before, source = (
            data[first:start].decode("utf-8", "replace"),
            data[start:end].decode("utf-8", "replace"),
        )
        line, line_end = source.partition("\n")[0], len(before) + (source.find("\n") + 1 or len(source))
        number, has_literal = data.count(b"\n", 0, first) + 1, False
        for literal in read_literals(before + source):
            if literal.end > len(before) and literal.start < line_end and _holds(literal.text, parts):
                has_literal = True
                begin = number + (before + source).count("\n", 0, literal.start)
                yield _Place(begin, align(tokens, literal.text), is_literal=True)
        if not has_literal:
            yield _Place(number + before.count("\n"), align(tokens, line), is_literal=False)


def _holds(text: str, parts: Sequence[bytes]) -> bool:
    data = text.encode("utf-8", "replace")
    return any(part in data for part in parts)


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
        MessageSource(
            by_row[number].match.score,
            LocatedHit(rows[number], by_row[number].line, "message", _detail(by_row[number])),
        )
        for number in chosen[:_MAX_HITS]
    ]


def _tier(row: SymbolRow, place: _Place) -> int:
    """Return 0 for code, 1 for tests and examples, 2 for documentation and comments."""
    if not place.is_literal or row.role == "docs" or row.kind in ("section", "text"):
        return 2
    return 0 if row.role in _CODE_ROLES else 1


def _detail(place: _Place) -> str:
    return f"holds {place.match.words} of its words"
