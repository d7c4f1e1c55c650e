"""Searches by pattern: the lines that match, under the symbols that hold them, with the other conditions."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence

from dowse.query import (
    Constraint,
    LangFilter,
    Leaf,
    PathFilter,
    Phrase,
    Regex,
    RepoFilter,
    evaluate,
    leaves,
    matches_metadata,
)
from dowse.search.lanes.places import Lines, Place
from dowse.search.planner import Plan
from dowse.search.ranking.profile import Profile
from dowse.search.ranking.signals import Ranked, Wanted, by_place, rank
from dowse.security.secret_masking import mask_lines
from dowse.storage.protocol import Reader
from dowse.types import Contribution, LineMatch, SymbolRow

# For each pattern of a plan, the lines that match it, by symbol.
Found = dict[Phrase | Regex, Lines]


def find_exact(reader: Reader, plan: Plan, seconds: float = math.inf) -> Found:
    """Find the lines of every pattern in the plan, in files that its filters do not rule out.

    Raises:
        TooSlow: It took longer than that many seconds. Patterns run in linear time, but texts may be many.
    """
    if not plan.exact:
        return {}
    from dowse.query.regex.matcher import compile_leaf
    from dowse.search.lanes.exact import exact_lane  # loaded only when a pattern is asked for

    has_filters = len(list(leaves(plan.constraint))) > len(plan.exact)
    keep = (lambda file: _may_hold(plan.constraint, file)) if has_filters else None
    deadline = time.monotonic() + seconds
    return {
        leaf: exact_lane(reader, compile_leaf(leaf, plan.query.case), keep, deadline) for leaf in plan.exact
    }


def rank_exact(
    reader: Reader,
    plan: Plan,
    found: Found,
    profile: Profile,
    wanted: Wanted,
    roles: frozenset[str],
    limit: int,
) -> tuple[list[Ranked], int]:
    """Order the symbols that meet the constraint by how many of their lines match, and by signals.

    With a limit, only that many symbols with most matching lines are looked at closely; without one, all
    are, and come in the order of their places.
    """
    counts: dict[Place, int] = {}
    for lines in found.values():
        for place, numbers in lines.items():
            counts[place] = counts.get(place, 0) + len(numbers)
    places = sorted(counts, key=lambda place: (-counts[place], place))
    total = len(places)
    if isinstance(plan.constraint, Phrase | Regex) and limit:
        places = places[:limit]  # nothing else can rule a symbol out
    rows = [row for row in _rows_at(reader, places) if _meets(plan, row, found)]
    if not isinstance(plan.constraint, Phrase | Regex):
        total, rows = len(rows), rows[:limit] if limit else rows
    rows.sort(key=by_place)
    parts = [[Contribution("exact", math.log2(1 + counts[_place(row)]))] for row in rows]
    ranked = rank(rows, parts, wanted, profile, roles)
    if not limit:
        ranked.sort(key=lambda hit: by_place(hit.row))
    return ranked, total


def matching_lines(
    reader: Reader, plan: Plan, ranked: Sequence[Ranked], found: Found, *, show_secrets: bool = False
) -> Iterator[tuple[tuple[LineMatch, ...], int]]:
    """Give for each hit the text of its matching lines, each once, and how many secrets are masked there."""
    if not found:
        yield from (((), 0) for _ in ranked)
        return
    from dowse.query.regex.matcher import compile_leaf

    patterns = {leaf: compile_leaf(leaf, plan.query.case) for leaf in found}
    seen: dict[tuple[int, Phrase | Regex], dict[int, LineMatch]] = {}
    for hit in ranked:
        lines: dict[int, LineMatch] = {}
        for leaf, places in found.items():
            numbers = places.get(_place(hit.row), ())
            key = (hit.row.file_id, leaf)
            if numbers and key not in seen:
                text = reader.text(hit.row.file_id)
                seen[key] = {match.line: match for match in patterns[leaf].find_lines(text)}
            for number in numbers:
                match, known = seen[key][number], lines.get(number)
                spans = {*known.spans, *match.spans} if known else match.spans
                lines[number] = LineMatch(number, match.text, tuple(sorted(spans)))
        matches = [lines[number] for number in sorted(lines)]
        masked = 0
        if matches and not show_secrets:
            matches, masked = mask_lines(reader.text(hit.row.file_id), matches)
        yield tuple(matches), masked


def exact_rows(found: Found) -> dict[object, frozenset[int]]:
    """Return the symbols that each pattern was found in."""
    return {leaf: frozenset(row for _, row in places) for leaf, places in found.items()}


def _rows_at(reader: Reader, places: Sequence[Place]) -> list[SymbolRow]:
    """Return the symbols at some places, and files where lines lie in no symbol."""
    symbols = {row.row: row for row in reader.rows([row for _, row in places if row])}
    files = {row.file_id: row for row in reader.file_rows([file for file, row in places if not row])}
    return [symbols[row] if row else files[file] for file, row in places]


def _meets(plan: Plan, row: SymbolRow, found: Found) -> bool:
    """Whether a symbol meets the constraint, patterns included."""

    def decide(leaf: Leaf) -> bool | None:
        if isinstance(leaf, Phrase | Regex):
            return _place(row) in found[leaf]
        return _metadata(leaf, row)

    return evaluate(plan.constraint, decide) is True


def _may_hold(constraint: Constraint | None, file: SymbolRow) -> bool:
    """Whether some symbol of a file can meet the constraint, as far as the file tells."""

    def decide(leaf: Leaf) -> bool | None:
        return _metadata(leaf, file) if isinstance(leaf, LangFilter | PathFilter | RepoFilter) else None

    return evaluate(constraint, decide) is not False


def _metadata(leaf: Leaf, row: SymbolRow) -> bool | None:
    return matches_metadata(
        leaf,
        lang=row.language,
        path=row.path,
        repo=row.repo,
        kind=row.kind,
        name=row.name,
        qualified_name=row.qualified_name,
    )


def _place(row: SymbolRow) -> Place:
    return (row.file_id, row.row)
