"""Which symbol is meant at a position: by the call graph, by what is defined there, by name."""

from __future__ import annotations

from typing import NamedTuple

from lsprotocol import types

from dowse.graph.model import describe_confidence, uncertainty
from dowse.interfaces.lsp.source import Source, Word
from dowse.types import NON_DEFINITION_KINDS, StoredFile, SymbolRow

# Symbols with the name under the cursor that are offered where the graph has no edge.
_MAX_BY_NAME = 20
_BY_NAME = "by name alone"


class Meant(NamedTuple):
    """A symbol that a position may mean."""

    row: SymbolRow
    certainty: str = ""  # "" for the definition itself


def symbols_at(source: Source, file: StoredFile, position: types.Position) -> list[Meant]:
    """Return the symbols that the word at a position may mean, most certain first."""
    word = source.word_at(file, position)
    if word is None:
        return []
    return _defined(source, file, word) or _referred(source, file, word) or _named(source, file, word)


def enclosing_symbol(source: Source, file: StoredFile, position: types.Position) -> SymbolRow | None:
    """Return the innermost definition around a position."""
    line = source.line_at(file, position)
    around = [row for row in source.definitions(file) if row.start_line <= line <= row.end_line]
    return min(around, key=lambda row: row.end_line - row.start_line, default=None)


def _defined(source: Source, file: StoredFile, word: Word) -> list[Meant]:
    """Return the symbol whose name in its definition begins with the word: `valid?` is a name in Ruby."""
    return [
        Meant(row)
        for row in source.definitions(file)
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
    return [Meant(row, describe_confidence(certainty[row.row])) for row in targets]


def _may_hold(row: SymbolRow, line: int) -> bool:
    """Whether a symbol may hold a reference in a line; that of a module has its text in several places."""
    return row.kind in NON_DEFINITION_KINDS or row.start_line <= line <= row.end_line


def _named(source: Source, file: StoredFile, word: Word) -> list[Meant]:
    rows = source.reader.rows_named([word.text], _MAX_BY_NAME)
    return [
        Meant(row, _BY_NAME)
        for row in rows
        if row.kind not in NON_DEFINITION_KINDS and row.language == file.language
    ]
