"""The symbols that the graph lane starts from: those that a query names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from dowse.search.planner import Plan
from dowse.storage.protocol import Reader
from dowse.symbol_lookup import is_partial_match, symbols_named
from dowse.types import Note, SymbolRow

# Symbols of one name that the graph lane starts from; a name of more symbols says too little.
_MAX_SEEDS = 10


@dataclass(frozen=True, slots=True)
class GraphSeeds:
    """Rows to start from, and the rows that a path ends at."""

    rows: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    notes: tuple[Note, ...] = ()  # which symbols a name was taken for


def find_seeds(reader: Reader, plan: Plan) -> GraphSeeds:
    """Return the symbols that the names in a plan refer to."""
    structural = plan.structural
    ends = symbols_named(reader, structural.target, _MAX_SEEDS) if structural and structural.target else []
    names = plan.seeds[:1] if ends else plan.seeds
    # Names take turns, so that a name of many symbols leaves room for the others.
    by_name = [symbols_named(reader, name, _MAX_SEEDS + 1) for name in names]
    symbols = [row for turn in zip_longest(*by_name) for row in turn if row is not None]
    notes = _ambiguity_notes(names, symbols) if plan.kind == "structure" else ()
    return GraphSeeds(tuple(row.row for row in symbols[:_MAX_SEEDS]), tuple(row.row for row in ends), notes)


def seed_described(symbol: SymbolRow | None) -> GraphSeeds:
    """Return the seed of a query that describes a symbol in words, if one was found."""
    if symbol is None:
        return GraphSeeds()
    text = f"taken for {symbol.qualified_name} ({symbol.path}:{symbol.start_line})"
    return GraphSeeds((symbol.row,), notes=(Note("graph", text),))


def _ambiguity_notes(names: Sequence[str], symbols: Sequence[SymbolRow]) -> tuple[Note, ...]:
    """Return a note where a name does not stand for exactly one symbol of that name."""
    if not symbols or len(names) != 1:
        return ()
    name, first = names[0], symbols[0]
    if len(symbols) > _MAX_SEEDS:
        text = f"more than {_MAX_SEEDS} symbols are called {name}; the first {_MAX_SEEDS} count"
    elif len({row.qualified_name for row in symbols}) > 1:
        text = f"{len(symbols)} symbols are called {name}; all of them count"
    elif is_partial_match(name, first):
        text = f"{name} is not here; taken for {first.qualified_name} ({first.path})"
    else:
        return ()
    return (Note("graph", text),)
