"""The definition of the name that a query is; a name that nothing defines, where it occurs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice, takewhile

from dowse.graph.mentions import file_order, lines_by_symbol, matching_lines, word_pattern
from dowse.query.edits import fold_name
from dowse.query.evaluate import evaluate, matches_row
from dowse.search.context import SearchContext
from dowse.search.frames import LocatedHit
from dowse.search.ranking.signals import RankedHit
from dowse.symbol_lookup import names_called, names_containing, nearest_names, symbols_named
from dowse.types import NON_DEFINITION_KINDS, Note, SymbolRow

# Names of one name that become hits, names that contain it, and symbols in which it occurs.
_MAX_NAMES, _MAX_CONTAINING, _MAX_OCCURRENCES = 20, 5, 10
# Symbols of the name that are moved to the front, if none is there.
_MAX_RAISED = 3
# The shortest part of a name that is looked for in others.
_MIN_PART = 3


def find_definitions(
    context: SearchContext, hits: Sequence[RankedHit]
) -> tuple[list[LocatedHit], int, list[Note]]:
    """Return the definitions that a query asks for, how many of the hits come before them, and what to note.

    Symbols of the name come before names, for they have more to show. A name that nothing defines is looked
    for in other names.
    """
    (name,) = context.features.names
    unknown = context.plan.unknown
    symbols = symbols_named(context.reader, name, _MAX_NAMES)
    symbols = [row for row in symbols if row.row > 0 and context.allows(row.row)]
    named = [row for row in names_called(context.reader, name, _MAX_NAMES) if _is_asked_for(context, row)]
    if symbols or named or not unknown:
        rows = {row.row for row in symbols if row.kind not in NON_DEFINITION_KINDS}
        leading = _leading(hits, lambda row: row.row in rows)
        best = () if leading else (hit.row for hit in hits if hit.row.row in rows)
        return _located([*islice(best, _MAX_RAISED), *named]), leading, []
    last = name.rpartition(".")[2]
    part = fold_name(last)
    containing = []
    if len(part) >= _MIN_PART:
        containing = names_containing(context.reader, last, _MAX_CONTAINING)
        containing = [row for row in containing if _is_asked_for(context, row)]
    if same := [row for row in containing if fold_name(row.name) == part]:
        note = Note("relaxed", f"not here as typed: {unknown} → {same[0].name}")
        return _located(same), _leading(hits, lambda row: fold_name(row.name) == part), [note]
    if containing:
        note = Note("unknown-name", f"nothing here is called {unknown}; longer names that contain it are")
        return _located(containing), _leading(hits, lambda row: part in fold_name(row.name)), [note]
    return [], 0, []


def find_occurrences(context: SearchContext, name: str) -> tuple[list[LocatedHit], Note]:
    """Return the symbols in which a name occurs that nothing defines, and the note that says so."""
    reader = context.reader
    lines, is_complete = matching_lines(reader, word_pattern([name]))
    if not lines:
        if same := nearest_names(reader, name, 0, 1):
            return [], Note("relaxed", f"not here as typed: {name} → {same[0].name}")
        return [], Note("unknown-name", f"no symbol here is called {name}")
    count = f"{'at least ' if not is_complete else ''}{len(lines):,} file{'s' if len(lines) > 1 else ''}"
    note = Note("unknown-name", f"{name} is not defined here; it occurs in {count}")
    files = sorted(reader.file_rows(sorted(lines)), key=file_order)[:_MAX_OCCURRENCES]
    found = lines_by_symbol(reader, lines, [file.file_id for file in files])
    order = {file.file_id: number for number, file in enumerate(files)}
    places = sorted((order[file_id], numbers[0], row) for (file_id, row), numbers in found.items() if row > 0)
    first = {row: line for _, line, row in reversed(places)}
    rows = reader.rows(list(dict.fromkeys(row for *_, row in places))[:_MAX_OCCURRENCES])
    located = [
        LocatedHit(row, first[row.row], "occurrence", f"line {first[row.row]}")
        for row in rows
        if context.allows(row.row)
    ]
    return located, note


def _is_asked_for(context: SearchContext, row: SymbolRow) -> bool:
    """Whether a name meets the filters; a configuration key is meant only by a word that looks like code."""
    is_code_word = any(word.identifier for word in context.plan.query.words)
    if row.kind == "key" and not is_code_word:
        return False
    return evaluate(context.plan.constraint, lambda leaf: matches_row(leaf, row)) is not False


def _located(rows: Sequence[SymbolRow]) -> list[LocatedHit]:
    return [LocatedHit(row, row.start_line, "definition", f"{row.kind} {row.qualified_name}") for row in rows]


def _leading(hits: Sequence[RankedHit], is_named: Callable[[SymbolRow], bool]) -> int:
    """Return how many hits at the front define the name themselves."""
    definitions = (is_named(hit.row) and hit.row.kind not in NON_DEFINITION_KINDS for hit in hits)
    return sum(takewhile(bool, definitions))
