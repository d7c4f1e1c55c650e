"""Positions in the files of a folder, between the indexed text and what the client shows."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lsprotocol import types

from dowse.formats.snippets import definition_line, find_name
from dowse.interfaces.lsp.documents import Document
from dowse.interfaces.lsp.encoding import Encoding
from dowse.interfaces.lsp.folders import Folder
from dowse.lazy_classes import NamedTuple
from dowse.services.targets import Target
from dowse.storage.protocol import Reader
from dowse.types import NON_DEFINITION_KINDS, StoredFile, SymbolRow

# Lines of a symbol in which its name is looked for: documentation and decorators precede it.
_MAX_HEAD = 400
_WORD = re.compile(r"[\w$]+")
# In these languages `$` begins a variable, and is no part of its name.
_SIGIL_WORD = re.compile(r"\w+")
_WITH_SIGILS = frozenset(["php", "bash", "perl", "powershell", "scss"])
# What a member is accessed of; "" for an expression.
_RECEIVER = re.compile(r"([$\w]*)(?:\??\.|->|::)\Z|(?<!\w)(@)@?\Z")


class Word(NamedTuple):
    """A word of the indexed text."""

    text: str
    line: int  # from 1
    column: int  # from 0, in bytes, as edges of the graph have it


class Source:
    """One generation of a folder's index, with positions as the client counts them."""

    def __init__(
        self, folder: Folder, reader: Reader, documents: Mapping[str, Document], encoding: Encoding
    ) -> None:
        self.folder, self.reader = folder, reader
        self._documents, self._encoding = documents, encoding
        self._lines: dict[int, list[str]] = {}

    def target(self, row: SymbolRow) -> Target:
        """Return a symbol as services take it."""
        return Target(self.folder.served, self.reader, row)

    def find(self, symbol_id: str) -> SymbolRow | None:
        """Return the symbol with an id."""
        return self.folder.served.names.find_symbol(self.reader, symbol_id)

    def lines(self, file_id: int) -> list[str]:
        """Return the lines of the indexed text."""
        if file_id not in self._lines:
            text = self.reader.text(file_id).decode("utf-8", "replace")
            self._lines[file_id] = [line.removesuffix("\r") for line in text.split("\n")]
        return self._lines[file_id]

    def name_range(self, row: SymbolRow) -> types.Range:
        """Return where a symbol is named; its first line if the name is not found."""
        number, column, name = self._name(row)
        return self.reference_range(row.file_id, row.path, number, column, name)

    def symbol_range(self, row: SymbolRow) -> types.Range:
        """Return the lines of a symbol, from the start of the first to the end of the last, and its name.

        The protocol wants the name inside the whole, also where a document was edited since.
        """
        lines = self.lines(row.file_id)
        last = lines[row.end_line - 1] if row.end_line <= len(lines) else ""
        start = self._position(row.file_id, row.path, row.start_line, 0)
        end, name = self._position(row.file_id, row.path, row.end_line, len(last)), self.name_range(row)
        return types.Range(min(start, name.start), max(start, end, name.end))

    def reference_range(self, file_id: int, path: str, line: int, column: int, name: str = "") -> types.Range:
        """Return the range of a name at a line and a column in bytes; without a name, of the word there."""
        text = self._line(file_id, line)
        start = len(text.encode()[:column].decode("utf-8", "ignore"))
        word = _WORD.match(text, start)
        length = len(name) if name and text.startswith(name, start) else len(word[0]) if word else 0
        return types.Range(
            self._position(file_id, path, line, start), self._position(file_id, path, line, start + length)
        )

    def location(self, row: SymbolRow) -> types.Location:
        """Return where a symbol is named."""
        return types.Location(self.folder.uri(row.path), self.name_range(row))

    def line_at(self, file: StoredFile, position: types.Position) -> int:
        """Return the indexed line, from 1, that a line of the client corresponds to."""
        stored, document = self.lines(file.file_id), self._document(file.path)
        number = min(position.line, len(stored) - 1)
        if document is not None:
            number = document.maps(self._version, stored)[0].map(position.line)
        return number + 1

    def word_at(self, file: StoredFile, position: types.Position) -> Word | None:
        """Return the word at a position of the client, or just before it."""
        line, document = self.line_at(file, position), self._document(file.path)
        stored = self._line(file.file_id, line)
        shown = stored
        if document is not None:
            shown = document.lines[position.line] if position.line < len(document.lines) else ""
        elif position.line != line - 1:
            return None  # beyond the end
        pattern = _SIGIL_WORD if file.language in _WITH_SIGILS else _WORD
        at = self._encoding.to_index(shown, position.character)
        word = next((each for each in pattern.finditer(shown) if each.start() <= at <= each.end()), None)
        if word is None:
            return None
        # In a line that was edited since, the n-th occurrence of the word is meant.
        before = sum(each[0] == word[0] for each in pattern.finditer(shown[: word.start()]))
        same = [each.start() for each in pattern.finditer(stored) if each[0] == word[0]]
        start = same[min(before, len(same) - 1)] if same else word.start()
        return Word(word[0], line, len(stored[:start].encode()))

    @property
    def _version(self) -> tuple[str, int]:
        return self.reader.identity, self.reader.generation

    def _document(self, path: str) -> Document | None:
        return self._documents.get(self.folder.uri(path)) if self._documents else None

    def _line(self, file_id: int, line: int) -> str:
        lines = self.lines(file_id)
        return lines[line - 1] if 0 < line <= len(lines) else ""

    def _position(self, file_id: int, path: str, line: int, index: int) -> types.Position:
        """Return the client's position of a character in the indexed text."""
        text, number, document = self._line(file_id, line), line - 1, self._document(path)
        if document is not None:
            number = document.maps(self._version, self.lines(file_id))[1].map(number)
            text = document.lines[number] if number < len(document.lines) else ""
        return types.Position(max(0, number), self._encoding.to_units(text[:index]))

    def name_position(self, row: SymbolRow) -> tuple[int, int]:
        """Return line and column, in bytes, of the name of a symbol in the indexed text."""
        return self._name(row)[:2]

    def _name(self, row: SymbolRow) -> tuple[int, int, str]:
        """Return line, column in bytes and text of a symbol's name."""
        head = self.lines(row.file_id)[row.start_line - 1 : min(row.end_line, row.start_line + _MAX_HEAD)]
        numbered = list(enumerate(head, row.start_line))
        if not numbered:
            return row.start_line, 0, ""
        number, text = numbered[definition_line(row, numbered)]
        start = find_name(text, row.name) if row.name else -1
        if start < 0:
            return number, len(text[: len(text) - len(text.lstrip())].encode()), ""
        return number, len(text[:start].encode()), row.name

    def names(self, file: StoredFile) -> list[SymbolRow]:
        """Return the names of a file: constants, fields and such, by line."""
        return self.reader.names_of_files([file.file_id])

    def receiver(self, file: StoredFile, word: Word) -> str | None:
        """Return what a word is a member of, None if it stands alone."""
        before = self._line(file.file_id, word.line).encode()[: word.column].decode("utf-8", "ignore")
        match = _RECEIVER.search(before)
        return (match[1] or match[2] or "") if match else None

    def definitions(self, file: StoredFile) -> list[SymbolRow]:
        """Return what a file defines, by line; later parts of long symbols are left out."""
        first: dict[tuple[str, str], SymbolRow] = {}
        for row in self.reader.rows_of_files([file.file_id]):
            if row.name and row.kind not in NON_DEFINITION_KINDS:
                first.setdefault((row.qualified_name, row.signature), row)
        return list(first.values())
