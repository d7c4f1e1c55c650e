"""The definition of the name that a query is; a name that nothing defines, where it occurs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile

from dowse.graph.mentions import file_order, lines_by_symbol, matching_lines, word_pattern
from dowse.graph.model import role_order
from dowse.query.edits import fold_name
from dowse.query.evaluate import evaluate, matches_row
from dowse.search.context import SearchContext
from dowse.search.frames import LocatedHit
from dowse.search.planner import written_name
from dowse.search.ranking.signals import COPY_ROLES, RankedHit
from dowse.search.ranking.type_names import is_definition
from dowse.symbol_lookup import inside_functions, names_containing, nearest_names, rows_meant
from dowse.types import NON_DEFINITION_KINDS, Note, SymbolRow

# Definitions of a name that become hits, of a plain word fewer: it may be meant as a word. Names that contain
# it, and symbols in which it occurs.
_MAX_DEFINITIONS, _MAX_OF_WORD, _MAX_CONTAINING, _MAX_OCCURRENCES = 20, 3, 5, 10
# The shortest part of a name that is looked for in others.
_MIN_PART = 3
# They name what is defined elsewhere, or everything of a file.
_LESSER_KINDS = frozenset(["impl", "namespace"])
# Says that something is defined in another file.
_DECLARATION_FILES = (".d.ts", ".d.mts", ".d.cts", ".pyi")


def find_definitions(
    context: SearchContext, hits: Sequence[RankedHit]
) -> tuple[list[LocatedHit], int, list[Note]]:
    """Return the definitions that a query asks for, how many of the hits come before them, and what to note.

    A name that nothing defines is looked for in other names.
    """
    word = context.plan.query.words[0]
    name, unknown = written_name(word.text), context.plan.unknown
    rows = [row for row in rows_meant(context.reader, name) if _is_asked_for(context, row)]
    if rows or not unknown:
        rank = {hit.row.row: number for number, hit in enumerate(hits)}
        defined = [row for row in rows if is_definition(row)]
        # What only a bundle defines, the file of that name in the source does.
        is_copied = defined and all(row.role in COPY_ROLES for row in defined)
        rows = rows if is_copied else defined
        # A symbol that is no hit is a copy of one, or not what the lanes were asked for.
        rows = [row for row in rows if row.row < 0 or row.row in rank] or rows
        inner = inside_functions(context.reader, rows) if len(rows) > 1 else ()
        rows.sort(key=lambda row: (*_order(row, row.row in inner), rank.get(row.row, len(hits))))
        rows = rows[: _MAX_DEFINITIONS if word.identifier else _MAX_OF_WORD]
        pairs = zip(rows, hits, strict=False)
        leading = sum(1 for _ in takewhile(lambda pair: pair[0].row == pair[1].row.row, pairs))
        return _located(rows[leading:]), leading, []
    last = name.rpartition(".")[2]
    part = fold_name(last)
    same = nearest_names(context.reader, last, 0, _MAX_CONTAINING, with_names=True)
    if same := [row for row in same if _is_asked_for(context, row)]:
        note = Note("relaxed", f"not here as typed: {unknown} → {same[0].name}")
        leading = _leading(hits, lambda row: fold_name(row.name) == part)
        shown = {hit.row.row for hit in hits[:leading]}
        return _located([row for row in same if row.row not in shown]), leading, [note]
    containing = []
    if len(part) >= _MIN_PART:
        containing = names_containing(context.reader, last, _MAX_CONTAINING)
        containing = [row for row in containing if _is_asked_for(context, row)]
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


def _order(row: SymbolRow, is_inner: bool) -> tuple[bool | int, ...]:
    """Return a sort key: the project's own code, then examples and copies, then tests, then documentation.

    In each, what is defined inside a function comes late, then declarations and keys. Symbols come before
    names, for they have more to show. Fields, which may be the state behind a property, and keys of values
    that have no name come behind what any code defines.
    """
    is_member = row.kind == "field" or (row.kind == "property" and "." not in row.qualified_name)
    is_declaration = (
        row.kind in ("prototype", "key")
        or row.path.endswith(_DECLARATION_FILES)
        or row.signature.startswith("extern ")
    )
    is_inner = is_inner or ".$" in row.qualified_name  # of an anonymous class
    places = (role_order(row), is_inner, is_declaration, row.row < 0)
    return row.kind in _LESSER_KINDS, row.role == "docs", is_member, *places


def _is_asked_for(context: SearchContext, row: SymbolRow) -> bool:
    """Whether a definition meets the filters; a key is meant only by a word that looks like code."""
    if row.row > 0:
        return context.allows(row.row)
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
