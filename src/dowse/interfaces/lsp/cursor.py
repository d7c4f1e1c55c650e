"""Which symbol is meant at a position: by the call graph, by what is defined there, by name."""

from __future__ import annotations

from lsprotocol import types

from dowse.graph.keys import family_of
from dowse.graph.model import describe_confidence, is_sure, uncertainty
from dowse.graph.type_hierarchy import is_type
from dowse.interfaces.lsp.import_paths import files_imported_as, path_files
from dowse.interfaces.lsp.local_names import Local, find_local
from dowse.interfaces.lsp.source import Source, Word
from dowse.lazy_classes import NamedTuple
from dowse.types import NON_DEFINITION_KINDS, StoredFile, SymbolRow

# Symbols with the name under the cursor that are offered where the graph has no edge.
_MAX_BY_NAME = 20
# Those that are read to find the nearest.
_MAX_READ = 1_000
_BY_NAME = "by name alone"
# What the instance is called inside a method.
_SELF = frozenset(["self", "this", "cls", "@", "$this"])


class Meant(NamedTuple):
    """A symbol that a position may mean."""

    row: SymbolRow
    certainty: str = ""  # "" for the definition itself
    is_sure: bool = True


def symbols_at(source: Source, file: StoredFile, position: types.Position) -> list[Meant]:
    """Return the symbols and names that the word at a position may mean, most certain first."""
    word = source.word_at(file, position)
    if word is None:
        return []
    found = _defined(source, file, word)
    if found and found[0].row.kind == "prototype":
        return [each for each in _by_name(source, file, word) if each.row.row > 0] or found
    found = found or _referred(source, file, word)
    if found and found[0].row.name != word.text and source.receiver(file, word):
        return [*_named(source, file, word), *found]  # an attribute that holds a class
    if found or find_local(source, file, word):
        return found
    if found := [Meant(row) for row in path_files(source, file, word)] or _own(source, file, word):
        return found
    imported = [Meant(row) for row in files_imported_as(source, file, word)]
    return imported or _named(source, file, word)


def definitions_at(source: Source, file: StoredFile, position: types.Position) -> list[Meant]:
    """Return what is defined where the word at a position leads: one place, if that is certain.

    A call of a class means the class, whose name it is, and not the constructor as well.
    """
    meant, word = symbols_at(source, file, position), source.word_at(file, position)
    named = [each for each in meant if word and each.row.name == word.text] or meant
    return [each for each in named if each.is_sure] or named


def local_at(source: Source, file: StoredFile, position: types.Position) -> Local | None:
    """Return the parameter or variable of a function that the word at a position means."""
    word = source.word_at(file, position)
    return find_local(source, file, word) if word else None


def enclosing_symbol(source: Source, file: StoredFile, position: types.Position) -> SymbolRow | None:
    """Return the innermost definition around a position."""
    line = source.line_at(file, position)
    around = [row for row in source.definitions(file) if row.start_line <= line <= row.end_line]
    return min(around, key=lambda row: row.end_line - row.start_line, default=None)


def _defined(source: Source, file: StoredFile, word: Word) -> list[Meant]:
    """Return the symbol or name whose name in its definition begins with the word: `valid?` in Ruby."""
    return [
        Meant(row)
        for row in (*source.definitions(file), *source.names(file))
        if row.name.startswith(word.text)
        and row.start_line <= word.line <= row.end_line
        and source.name_position(row) == (word.line, word.column)
    ][:1]


def _referred(source: Source, file: StoredFile, word: Word) -> list[Meant]:
    rows = [row.row for row in source.reader.rows_of_files([file.file_id]) if _may_hold(row, word.line)]
    edges = [
        edge
        for edge in source.reader.edges(rows)
        if (edge.file_id, edge.line, edge.column) == (file.file_id, word.line, word.column)
    ]
    certainty = {edge.target: edge for edge in sorted(edges, key=uncertainty, reverse=True)}
    targets = source.reader.rows(list(certainty))
    targets.sort(key=lambda row: uncertainty(certainty[row.row]))
    return [
        Meant(row, describe_confidence(edge), is_sure(edge))
        for row, edge in ((row, certainty[row.row]) for row in targets)
    ]


def _may_hold(row: SymbolRow, line: int) -> bool:
    """Whether a symbol may hold a reference in a line; that of a module has its text in several places."""
    return row.kind in NON_DEFINITION_KINDS or row.start_line <= line <= row.end_line


def _named(source: Source, file: StoredFile, word: Word) -> list[Meant]:
    """Return what has the name: in the same type or file alone, if that has it; else nearest first."""
    return _own(source, file, word) or _by_name(source, file, word)


def _by_name(source: Source, file: StoredFile, word: Word) -> list[Meant]:
    family = family_of(file.language)
    rows = [
        row
        for row in source.reader.rows_named([word.text], _MAX_READ, with_names=True)
        if family_of(row.language) == family
        and (row.kind not in NON_DEFINITION_KINDS or word.text in row.signature)  # a module of Ruby
    ]
    folder = file.path.rpartition("/")[0]
    rows.sort(key=lambda row: (row.file_id != file.file_id, row.path.rpartition("/")[0] != folder))
    return [Meant(row, _BY_NAME, is_sure=False) for row in rows[:_MAX_BY_NAME]]


def _own(source: Source, file: StoredFile, word: Word) -> list[Meant]:
    """Return what a file defines under a name: outside of types, or in the type around it after `self`."""
    receiver, scopes = source.receiver(file, word), {word.text}
    rows = [*source.definitions(file), *source.names(file)]
    if receiver is not None:
        around = [row for row in rows if row.start_line <= word.line <= row.end_line]
        types_around = [row for row in around if is_type(row) and receiver in _SELF]
        scopes = {f"{row.qualified_name}.{word.text}" for row in types_around}
    return [Meant(row, _BY_NAME, is_sure=False) for row in rows if row.qualified_name in scopes][:1]
