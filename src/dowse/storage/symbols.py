"""Stored symbols with their text: as answers show them, and as encoders read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dowse.lazy_classes import NamedTuple
from dowse.parsing.spans import join_spans, subtract_spans
from dowse.types import Span, Symbol, SymbolRecord, SymbolRow

if TYPE_CHECKING:
    from dowse.encoders.document import Document


# Lines around a name that are shown with it, before and after its own.
_BEFORE, _AFTER = 2, 2
# Characters of its own line that are its signature.
_MAX_SIGNATURE = 200


class SymbolDetails(NamedTuple):
    """The columns of a symbol that its row leaves out."""

    doc: str
    spans: Sequence[Span]
    doc_spans: Sequence[Span]
    content_hash: str


def build_symbols(
    rows: Sequence[SymbolRow], texts: Mapping[int, bytes], details: Mapping[int, SymbolDetails]
) -> list[Symbol]:
    """Return symbols with their text; of those without details, names have negative rows, files have 0."""
    return [_build_symbol(row, texts[row.file_id], details.get(row.row)) for row in rows]


def _build_symbol(row: SymbolRow, text: bytes, details: SymbolDetails | None) -> Symbol:
    whole = surroundings(text, row.start_line) if row.row < 0 else (0, len(text))
    doc, spans, _, digest = details or SymbolDetails("", [whole], (), "")
    code, numbers = join_spans(text, spans).decode("utf-8", "replace"), _line_numbers(text, spans)
    signature = row.signature
    if row.row < 0:
        lines = dict(zip(numbers, code.split("\n"), strict=False))
        signature = " ".join(lines.get(row.start_line, "")[:_MAX_SIGNATURE].split())
    return Symbol(
        *(row.key, row.repo, row.path, row.language, row.kind, row.name, row.qualified_name),
        *(row.start_line, row.end_line, signature, doc, code, digest),
        line_numbers=numbers,
    )


def surroundings(text: bytes, line: int) -> Span:
    """Return the lines around a line of a file."""
    start = 0
    for _ in range(line - 1 - _BEFORE):
        start = text.find(b"\n", start) + 1
    end = start
    for _ in range(min(line - 1, _BEFORE) + 1 + _AFTER):
        end = text.find(b"\n", end) + 1
        if not end:
            return start, len(text)
    return start, end


def _line_numbers(text: bytes, spans: Sequence[Span]) -> tuple[int, ...]:
    """Return the line number in the file of every line of the joined spans."""
    numbers: list[int] = []
    at_line_end = True  # of the last span
    for start, end in spans:
        first = text.count(b"\n", 0, start) + 1
        last = first + text.count(b"\n", start, end)
        numbers.extend(range(first if at_line_end else first + 1, last + 1))
        at_line_end = text[end - 1 : end] == b"\n"
        if at_line_end:
            numbers.pop()
    return tuple(numbers)


def build_document(
    symbol: SymbolRow | SymbolRecord,
    details: SymbolDetails | SymbolRecord,
    text: bytes,
    language: str,
    path: str,
) -> Document:
    """Return what an encoder reads of a symbol; `text` is that of its file."""
    from dowse.encoders.document import Document

    qualifier = symbol.qualified_name.removesuffix(symbol.name).rstrip(".")
    code = join_spans(text, subtract_spans(details.spans, details.doc_spans)).decode("utf-8", "replace")
    return Document(qualifier, symbol.name, details.doc, code, language, path)


def file_row(file_id: int, key: str, repo: str, path: str, language: str, role: str, lines: int) -> SymbolRow:
    """Return a file as if it were one symbol of kind "file" around all its lines (row 0)."""
    name = path.rpartition("/")[2]
    described = (0, f"file:{key}", repo, path, language, role, "file", name, name)
    return SymbolRow(*described, 1, max(1, lines), "", file_id)
