"""Where the graph lane starts: the symbols that a question names, or the one that it describes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from dowse.search.planner import Plan
from dowse.storage.protocol import Reader
from dowse.symbol_lookup import is_partial_match, symbols_named
from dowse.types import SymbolRow

# Symbols of one name that the graph lane starts from; a name that more bear says too little.
_MOST = 10


@dataclass(frozen=True, slots=True)
class Seeds:
    """Rows to start from, and the rows that a path shall lead to."""

    rows: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    notes: list[str] = field(default_factory=list)  # who was taken to be meant


def find_seeds(reader: Reader, plan: Plan, described: Callable[[str], SymbolRow | None]) -> Seeds:
    """Return where the graph lane of a plan starts.

    Args:
        reader: One generation of an index.
        plan: The plan.
        described: Finds the definition that some words describe.
    """
    if "graph" not in plan.lanes:
        return Seeds()
    structural, notes = plan.structural, list[str]()
    ends = symbols_named(reader, structural.target, _MOST) if structural and structural.target else []
    names = plan.seeds[:1] if ends else plan.seeds
    # Names take turns, so that one that many bear leaves room for the others.
    found = [symbols_named(reader, name, _MOST + 1) for name in names]
    rows = [row for turn in zip_longest(*found) for row in turn if row is not None]
    if plan.kind == "structure":
        notes += _who_is_meant(names, rows)
    if not rows and structural and structural.described:
        best = described(structural.described)
        rows = [best] if best else []
        notes += [f"taken for {row.qualified_name} ({row.path}:{row.start_line})" for row in rows]
    if not rows and plan.kind == "forced":
        notes.append("no symbol of this index is named, so the graph has nowhere to start")
    return Seeds(tuple(row.row for row in rows[:_MOST]), tuple(row.row for row in ends), notes)


def _who_is_meant(names: Sequence[str], rows: Sequence[SymbolRow]) -> list[str]:
    """Say so where a name does not name just one symbol of just that name."""
    if not rows or len(names) != 1:
        return []
    name, first = names[0], rows[0]
    if len(rows) > _MOST:
        return [f"more than {_MOST} symbols are called {name}; the first {_MOST} count"]
    if len({row.qualified_name for row in rows}) > 1:
        return [f"{len(rows)} symbols are called {name}; all of them count"]
    return (
        [f"{name} is not here; taken for {first.qualified_name} ({first.path})"]
        if is_partial_match(name, first)
        else []
    )
