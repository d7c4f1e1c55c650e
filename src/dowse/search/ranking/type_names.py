"""A query that is the name of a type asks for the type first, then its constructors, then its members."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING

from dowse.search.ranking.qualified_names import is_named
from dowse.types import NON_DEFINITION_KINDS, TYPE_KINDS, Contribution, SymbolRow

if TYPE_CHECKING:
    from dowse.search.ranking.signals import RankedHit

# What constructors are called that do not have the name of their type.
_CONSTRUCTORS = frozenset("__init__ __new__ __construct constructor init initialize new".split())
# What the type is above the next hit where it was below, as a share of the best score.
_GAP = 0.01


class Tier(IntEnum):
    """What a symbol is to the type that was asked for; the first comes first."""

    TYPE = 0
    CONSTRUCTOR = 1
    MEMBER = 2
    REST = 3


def types_first(hits: Sequence[RankedHit], name: str) -> list[RankedHit]:
    """Put a type of this name first, and before its constructors, these before its members.

    They change places among themselves alone: what else matches well stays where it is. Where only tests and
    the like have such a type, it comes first unless the project's own code defines something else of that
    name.
    """
    from dowse.graph.model import role_order  # late: most queries are no type's name

    last = name.rpartition(".")[2]
    named = [hit.row for hit in hits if _has_name(hit.row, name)]
    types = [row for row in named if _is_type(row)]
    own = [row for row in types if not role_order(row)]
    if not types or (not own and any(not role_order(row) for row in named)):
        return list(hits)
    firsts = _first_parts(own or types)
    has_long = any(row.end_line > row.start_line for row in firsts.values())

    def tier(row: SymbolRow) -> Tier:
        if row.row in firsts:
            return Tier.TYPE
        if own and role_order(row):
            return Tier.REST
        if is_constructor(row, last):
            return Tier.CONSTRUCTOR
        return Tier.MEMBER if _is_member(row, last) else Tier.REST

    def key(hit: RankedHit) -> tuple[int, bool, bool, bool, float]:
        row, place = hit.row, tier(hit.row)
        if place is not Tier.TYPE:
            return (place, False, False, False, -hit.score)
        # A type with a body goes before forward declarations, the file of its name before other parts of a
        # partial class, the outermost scope before nested ones.
        is_short = has_long and row.end_line == row.start_line
        return (place, is_short, not _is_file_of(row, last), row.qualified_name != name, -hit.score)

    family = iter(sorted((hit for hit in hits if tier(hit.row) is not Tier.REST), key=key))
    first = next(family)
    ordered = [first]
    others = [hit for hit in hits if hit is not first]
    ordered += [hit if tier(hit.row) is Tier.REST else next(family) for hit in others]
    _raise_scores(ordered, [tier(hit.row) for hit in ordered])
    return ordered


def _first_parts(rows: Iterable[SymbolRow]) -> dict[int, SymbolRow]:
    """Return the first part of each type: long ones are stored in several."""
    first: dict[tuple[int, str, str], SymbolRow] = {}
    for row in sorted(rows, key=lambda each: each.start_line):
        first.setdefault((row.file_id, row.qualified_name, row.signature), row)
    return {row.row: row for row in first.values()}


def _has_name(row: SymbolRow, name: str) -> bool:
    has_name = f".{row.qualified_name}".endswith(f".{name}") or row.name == name or is_named(row, name)
    return has_name and is_definition(row)


def _is_type(row: SymbolRow) -> bool:
    """Whether a symbol is a type, or a module that is declared in code: Ruby and Elixir have both."""
    is_module = row.kind == "module" and bool(row.signature)
    return is_module or (row.kind in TYPE_KINDS and row.kind != "impl")


def is_definition(row: SymbolRow) -> bool:
    """Whether a symbol defines its name: a file has one, too, and prose has headings."""
    return row.kind not in NON_DEFINITION_KINDS or _is_type(row)


def _is_file_of(row: SymbolRow, type_name: str) -> bool:
    """Whether a file is called like a type: `RateLimiter.cs`, `rate_limiter.py`, not `Limiter.Async.cs`."""
    stem = row.path.rpartition("/")[2].rpartition(".")[0]
    return re.sub(r"[_-]", "", stem).lower() == type_name.replace("_", "").lower()


def _is_member(row: SymbolRow, type_name: str) -> bool:
    is_impl = row.kind == "impl" and row.name == type_name
    return is_impl or (row.qualified_name.split(".")[-2:-1] == [type_name] and bool(row.signature))


def is_constructor(row: SymbolRow, type_name: str) -> bool:
    """Whether a symbol makes values of a type: it has its name or a constructor's, or is Go's `NewType`."""
    if row.kind in TYPE_KINDS or row.kind in NON_DEFINITION_KINDS:
        return False
    parent = row.qualified_name.split(".")[-2:-1]
    is_go = row.language == "go" and row.name == f"New{type_name}"
    return is_go or row.name == type_name or (row.name in _CONSTRUCTORS and parent == [type_name])


def _raise_scores(ordered: Sequence[RankedHit], tiers: Sequence[Tier]) -> None:
    """Raise scores until they fall from hit to hit, so that the order is that of the scores."""
    gap = _GAP * max((hit.score for hit in ordered), default=0.0)
    floor = float("-inf")
    for hit, tier in zip(reversed(ordered), reversed(tiers), strict=True):
        if hit.score < floor:
            value = floor - hit.score + (gap if hit is ordered[0] else 0.0)
            hit.contributions.append(Contribution("signal.type", value, tier.name.lower()))
            hit.score = max(floor, hit.score + value)  # the sum can be rounded down
        floor = hit.score
