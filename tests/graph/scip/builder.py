"""Small SCIP files for tests: occurrences are found in the text, as a compiler would report them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dowse.graph.scip.schema import DEFINITION, UTF8, UTF16, UTF32, messages

_UNITS = {UTF8: ("utf-8", 1), UTF16: ("utf-16-le", 2), UTF32: ("utf-32-le", 4)}


def package_symbol(descriptors: str, package: str = "shop") -> str:
    """The name of a symbol in a package."""
    return f"compiler pip {package} 1 {descriptors}"


def columns(line: str, start: int, end: int, encoding: int) -> tuple[int, int]:
    """Columns in characters, in the units of an encoding."""
    codec, size = _UNITS.get(encoding, ("utf-32-le", 4))
    return len(line[:start].encode(codec)) // size, len(line[:end].encode(codec)) // size


class ScipBuilder:
    """A SCIP index that is put together piece by piece."""

    def __init__(self, encoding: int = UTF8, tool: str = "compiler", root: str = "") -> None:
        self.index = messages().index()
        self.index.metadata.tool_info.name = tool
        self.index.metadata.project_root = root
        self._encoding = encoding

    def document(self, path: str, text: str, *, with_text: bool = True) -> ScipDocument:
        """Add a document."""
        message = self.index.documents.add(relative_path=path, position_encoding=self._encoding)
        if with_text:
            message.text = text
        return ScipDocument(message, text, self._encoding)

    def write(self, path: Path) -> Path:
        """Write the file."""
        path.write_bytes(self.index.SerializeToString())
        return path


class ScipDocument:
    """One document: words of its text are marked as occurrences."""

    def __init__(self, message: Any, text: str, encoding: int) -> None:
        self.message, self._lines, self._encoding = message, text.split("\n"), encoding

    def mark(self, line: int, word: str, symbol: str, roles: int = 0, nth: int = 0) -> ScipDocument:
        """Mark the nth occurrence of a word on a line (from 1)."""
        text = self._lines[line - 1]
        found = list(re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text))[nth]
        span = columns(text, *found.span(), self._encoding)
        self.message.occurrences.add(range=[line - 1, *span], symbol=symbol, symbol_roles=roles)
        return self

    def define(self, line: int, word: str, symbol: str) -> ScipDocument:
        """Mark a definition."""
        return self.mark(line, word, symbol, DEFINITION)

    def implements(self, symbol: str, other: str) -> ScipDocument:
        """Say that a symbol implements another."""
        information = self.message.symbols.add(symbol=symbol)
        information.relationships.add(symbol=other, is_implementation=True)
        return self


def scip_of_program(files: Mapping[str, str], marks: Iterable[tuple[str, int, str, str, int]]) -> ScipBuilder:
    """A SCIP index of files, with marks (path, line, word, symbol, roles)."""
    builder = ScipBuilder()
    documents = {path: builder.document(path, text) for path, text in files.items()}
    for path, line, word, symbol, roles in marks:
        documents[path].mark(line, word, symbol, roles)
    return builder
