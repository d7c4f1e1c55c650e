"""The symbols whose string literals hold the words of a pasted error message."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from dowse import deadline
from dowse.errors import TooSlow
from dowse.query.regex.matcher import compile_pattern
from dowse.search.exact import ScanLimits, exact_lane
from dowse.search.frames import LocatedHit
from dowse.search.ranking.signals import RankedHit
from dowse.storage.protocol import Reader
from dowse.storage.symbol_lines import SymbolLocation
from dowse.types import NON_DEFINITION_KINDS

# Parts of a message that are looked up, of so many words each: what a program filled in breaks some of them.
_MAX_PARTS = 12
_PART_WORDS = 4
# A shorter part says nothing: "is not a".
_MIN_CHARACTERS = 10
# A message that so many symbols hold is nobody's own.
_MAX_HITS = 5
# A literal that shares fewer parts with the message is another one.
_MIN_SHARE = 0.25
# A symbol counts if it holds this share of the parts that the best one holds.
_SHARE_OF_BEST = 0.6


def find_message(reader: Reader, message: str, hits: Sequence[RankedHit], seconds: float) -> list[LocatedHit]:
    """Return the symbols with string literals that the message may come from, the best first.

    Code comes before tests and documentation, which often quote a message; among equals the order of the
    other hits decides.
    """
    parts = message_parts(message)
    limits = ScanLimits(deadline.optional_until(seconds))
    # For each symbol the first line of every part that it holds.
    held: dict[SymbolLocation, list[int]] = defaultdict(list)
    for part in parts:
        pattern = compile_pattern(rf"[\"'`].*{re.escape(part)}", case="sensitive")
        try:
            lines = exact_lane(reader, pattern, limits=limits)
        except TooSlow:
            break
        for location, numbers in lines.items():
            if location[1]:
                held[location].append(numbers[0])
    best = max(map(len, held.values()), default=0)
    if best < _MIN_SHARE * len(parts):
        return []
    near = {row: lines for (_, row), lines in held.items() if len(lines) >= _SHARE_OF_BEST * best}
    rows = [row for row in reader.rows(list(near)) if row.kind not in NON_DEFINITION_KINDS]
    rows = [row for row in rows if not row.role] or rows
    if len(rows) > _MAX_HITS:
        return []
    ranks = {hit.row.row: rank for rank, hit in enumerate(hits)}
    rows.sort(key=lambda row: (-len(near[row.row]), ranks.get(row.row, len(ranks)), row.path, row.start_line))
    details = {row.row: f"holds {len(near[row.row])} of {len(parts)} parts of it" for row in rows}
    return [LocatedHit(row, min(near[row.row]), "message", details[row.row]) for row in rows]


def message_parts(message: str) -> list[str]:
    """Return overlapping parts of a message, as they stand in it."""
    message = re.sub(r"^[\w.$]*(?:Error|Exception|Warning|Failure)\b:?\s*", "", message)
    words = list(re.finditer(r"\S+", message))
    size = min(_PART_WORDS, max(2, len(words) - 2))
    parts = [
        message[words[first].start() : words[first + size - 1].end()]
        for first in range(max(0, len(words) - size + 1))
    ]
    parts = [part for part in parts if len(part) >= _MIN_CHARACTERS]
    step = max(1, -(-len(parts) // _MAX_PARTS))
    return parts[::step]
