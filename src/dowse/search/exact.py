"""Exact search: the lines that match phrases and regexes, grouped by the symbols that contain them.

The trigram index selects files; their text is matched by RE2.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from dowse import deadline
from dowse.errors import TooSlow
from dowse.lazy_classes import dataclass
from dowse.query.ast import (
    And,
    Constraint,
    LangFilter,
    Leaf,
    PathFilter,
    Phrase,
    Regex,
    RepoFilter,
    WithinFilter,
    leaves,
)
from dowse.query.evaluate import evaluate, matches_row
from dowse.search.planner import Plan
from dowse.search.ranking.profile import Profile
from dowse.search.ranking.signals import QueryFeatures, RankedHit, location, rank
from dowse.source.walk import TOO_LARGE
from dowse.storage.protocol import Reader
from dowse.storage.symbol_lines import SymbolLines, SymbolLocation, assign_to_symbols
from dowse.types import Contribution, LineMatch, Note, SymbolRow

if TYPE_CHECKING:
    from dowse.query.regex.matcher import Pattern

# Beyond so many matching lines a query for the best hits ends: the pattern matches nearly everywhere.
MAX_LINES = 10_000
# Beyond so many matching lines of one symbol only the first match of each line is marked.
_MANY_LINES = 200
# So many lines in the answer to a query for the best hits, too: the pattern matches nearly everywhere.
_MANY_LINES_OF_ALL = 2_000
# Files that one note names.
_MAX_NAMED = 3
# Stands for one that is not in the index: only its path is known.
_FILE = SymbolRow(0, "", "", "", "", "", "file", "", "", 1, 1, "", 0)
# Filters that the metadata of a file decides.
_FILE_FILTERS = (LangFilter, PathFilter, WithinFilter, RepoFilter)
# For each pattern of a plan, the lines that match it, by symbol.
ExactMatches = dict[Phrase | Regex, SymbolLines]


@dataclass(slots=True)
class ScanLimits:
    """What ends the search for a pattern before every file is read."""

    until: float = math.inf  # a time of `time.monotonic`
    # Of a query for the best hits: more lines end it, and what was found in time is an answer.
    max_lines: int | None = None
    reached: Note | None = None  # the limit that ended it


def can_end_early(constraint: Constraint | None) -> bool:
    """Whether some matching lines are an answer: of one pattern, with no filters but those of files.

    Of several patterns one may be negated: then all its lines are needed.
    """
    parts = constraint.parts if isinstance(constraint, And) else (constraint,)
    patterns = [part for part in parts if isinstance(part, Phrase | Regex)]
    others = [leaf for part in parts if part not in patterns for leaf in leaves(part)]
    return len(patterns) == 1 and all(isinstance(leaf, _FILE_FILTERS) for leaf in others)


def match_patterns(reader: Reader, plan: Plan, limits: ScanLimits | None = None) -> ExactMatches:
    """Return the lines of every pattern in the plan, in files that its filters do not rule out.

    Raises:
        TooSlow: It took too long. Patterns run in linear time, but there may be many texts.
    """
    from dowse.query.regex.matcher import compile_leaf  # only when a query has a pattern

    limits = limits or ScanLimits()
    has_filters = len(list(leaves(plan.constraint))) > len(plan.exact)
    keep = (lambda file: _may_match(plan.constraint, file)) if has_filters else None
    with deadline.time_limit(limits.until - time.monotonic()):  # compiling counts, too
        patterns = {leaf: compile_leaf(leaf, plan.query.case) for leaf in plan.exact}
    return {leaf: exact_lane(reader, pattern, keep, limits) for leaf, pattern in patterns.items()}


def exact_lane(
    reader: Reader,
    pattern: Pattern,
    keep_file: Callable[[SymbolRow], bool] | None = None,
    limits: ScanLimits | None = None,
) -> SymbolLines:
    """Return every line of the index that matches, within limits."""
    from dowse.query.regex.trigrams import required_trigrams

    limits = limits or ScanLimits()
    files = reader.trigram_candidates(required_trigrams(pattern))
    if keep_file is not None:
        files = [row.file_id for row in reader.file_rows(files) if keep_file(row)]
    lines = _matching_numbers(reader, pattern, files, limits)
    symbol_lines: SymbolLines = {}
    for file_id, extents in reader.symbol_ranges(list(lines)):
        assign_to_symbols(file_id, extents, lines[file_id], symbol_lines)
    return symbol_lines


def _matching_numbers(
    reader: Reader, pattern: Pattern, files: Sequence[int], limits: ScanLimits
) -> dict[int, list[int]]:
    """Return the numbers of the matching lines of each file that has some."""
    lines: dict[int, list[int]] = {}
    count = found = 0  # files, the one at hand included; lines
    try:
        with deadline.time_limit(limits.until - time.monotonic()):
            for file_id, text in reader.texts(files):
                deadline.check()
                count += 1
                if numbers := pattern.line_numbers(text):
                    lines[file_id] = numbers
                    found += len(numbers)
                    if limits.max_lines is not None and found > limits.max_lines:
                        cut = f"more than {limits.max_lines:,} lines match; not every file was searched"
                        limits.reached = Note("truncated", cut, "-k 0 finds all")
                        break
    except TooSlow:
        deadline.check()  # that of the whole query
        if limits.max_lines is None or not found:
            raise TooSlow(
                "the pattern took too long; add filters such as path: or lang:, "
                "or make the pattern more specific"
            ) from None
        cut = f"there was time to search {count - 1:,} of {len(files):,} files"
        limits.reached = Note("truncated", cut, "add filters such as path: or lang:")
    return lines


def unsearched_notes(reader: Reader, plan: Plan) -> list[Note]:
    """Say which files a pattern was not looked for in, because they are too large for the index."""
    paths = [
        path
        for path, reason in reader.skipped()
        if reason.startswith(TOO_LARGE) and _may_match(plan.constraint, _FILE._replace(path=path))
    ]
    if not paths:
        return []
    shown = ", ".join(paths[:_MAX_NAMED]) + (", …" if len(paths) > _MAX_NAMED else "")
    files = "1 file is" if len(paths) == 1 else f"{len(paths):,} files are"
    text = f"{files} larger than `max_file_bytes` and not searched: {shown}"
    return [Note("truncated", text, "`dowse status --files` lists them")]


def rank_exact(
    reader: Reader, plan: Plan, matches: ExactMatches, profile: Profile, features: QueryFeatures, limit: int
) -> tuple[list[RankedHit], int]:
    """Rank the symbols that meet the filters by matching lines and signals; also return how many there are.

    With a limit, only so many symbols with most matching lines are ranked; without one all are, sorted by
    location.
    """
    counts: dict[SymbolLocation, int] = {}
    for lines in matches.values():
        for symbol, numbers in lines.items():
            counts[symbol] = counts.get(symbol, 0) + len(numbers)
    symbols = sorted(counts, key=lambda symbol: (-counts[symbol], symbol))
    total = len(symbols)
    if isinstance(plan.constraint, Phrase | Regex) and limit:
        symbols = symbols[:limit]  # nothing else can rule a symbol out
    rows = [row for row in _rows_at(reader, symbols) if _meets_filters(plan, row, matches)]
    if not isinstance(plan.constraint, Phrase | Regex):
        total, rows = len(rows), rows[:limit] if limit else rows
    rows.sort(key=location)
    contributions = [[Contribution("exact", math.log2(1 + counts[_symbol_location(row)]))] for row in rows]
    ranked = rank(rows, contributions, features, profile)
    if not limit:
        ranked.sort(key=lambda hit: location(hit.row))
    return ranked, total


def matching_lines(
    reader: Reader,
    plan: Plan,
    ranked: Sequence[RankedHit],
    matches: ExactMatches,
    *,
    is_limited: bool = False,
    until: float = math.inf,
) -> Iterator[tuple[LineMatch, ...]]:
    """Yield for each hit its matching lines, each once.

    Where very many lines match, the first match of a line may be all that is given; `is_limited` says that
    the best hits are asked for, not all of them. After a time `until` of `time.monotonic` lines are given
    whole.
    """
    from dowse.query.regex.matcher import compile_leaf

    locations = [_symbol_location(hit.row) for hit in ranked]
    count = sum(len(symbols.get(each, ())) for each in locations for symbols in matches.values())
    is_everywhere = is_limited and count > _MANY_LINES_OF_ALL

    patterns = {leaf: compile_leaf(leaf, plan.query.case) for leaf in matches}
    matched: dict[tuple[int, Phrase | Regex], dict[int, LineMatch]] = {}
    for hit in ranked:
        deadline.check()
        lines: dict[int, LineMatch] = {}
        for leaf, symbols in matches.items():
            numbers = symbols.get(_symbol_location(hit.row), ())
            key = (hit.row.file_id, leaf)
            if numbers and key not in matched:
                text = reader.text(hit.row.file_id)
                one_a_line = is_everywhere or len(numbers) > _MANY_LINES
                try:
                    with deadline.time_limit(until - time.monotonic()):
                        found = patterns[leaf].find_lines(text, one_a_line=one_a_line)
                except TooSlow:
                    deadline.check()  # that of the whole query
                    found = _whole_lines(text)
                matched[key] = {match.line: match for match in found}
            for number in numbers:
                match, known = matched[key][number], lines.get(number)
                spans = {*known.spans, *match.spans} if known else match.spans
                lines[number] = LineMatch(number, match.text, tuple(sorted(spans)))
        yield tuple(lines[number] for number in sorted(lines))


def _whole_lines(text: bytes) -> list[LineMatch]:
    """Return all lines, each as one match."""
    lines = text.decode("utf-8-sig", "replace").split("\n")
    return [LineMatch(number, line, ((0, len(line)),)) for number, line in enumerate(lines, 1)]


def _rows_at(reader: Reader, locations: Sequence[SymbolLocation]) -> list[SymbolRow]:
    """Return the symbols at some locations, and files where a line is in no symbol."""
    symbols = {row.row: row for row in reader.rows([row for _, row in locations if row])}
    files = {row.file_id: row for row in reader.file_rows([file for file, row in locations if not row])}
    return [symbols[row] if row else files[file] for file, row in locations]


def _meets_filters(plan: Plan, row: SymbolRow, matches: ExactMatches) -> bool:
    """Whether a symbol meets the filters, patterns included."""

    def decide(leaf: Leaf) -> bool | None:
        if isinstance(leaf, Phrase | Regex):
            return _symbol_location(row) in matches[leaf]
        return matches_row(leaf, row)

    return evaluate(plan.constraint, decide) is True


def _may_match(constraint: Constraint | None, file: SymbolRow) -> bool:
    """Whether some symbol of a file can meet the filters, judged by the file's metadata alone."""

    def decide(leaf: Leaf) -> bool | None:
        is_known = isinstance(leaf, _FILE_FILTERS if file.file_id else (PathFilter, WithinFilter))
        return matches_row(leaf, file) if is_known else None

    return evaluate(constraint, decide) is not False


def _symbol_location(row: SymbolRow) -> SymbolLocation:
    return (row.file_id, row.row)
