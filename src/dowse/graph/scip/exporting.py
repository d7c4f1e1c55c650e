"""Writes our definitions and certain references as a SCIP file, for other tools to read."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dowse.graph.model import is_sure
from dowse.graph.scip.names import descriptor, symbol_head
from dowse.graph.scip.positions import word_length
from dowse.graph.scip.schema import (
    DEFINITION,
    DOCUMENTS_FIELD,
    IMPORT,
    KINDS,
    METADATA_FIELD,
    TEXT_UTF8,
    UTF8,
    Message,
    messages,
)
from dowse.parsing.languages import LANGUAGES
from dowse.storage.protocol import Reader
from dowse.types import TYPE_KINDS, Edge, StoredFile, SymbolRow
from dowse.version import __version__

_BATCH = 500
_BYTES = 2  # the wire type of the fields of an index


class ScipExport(NamedTuple):
    """What was written."""

    documents: int
    symbols: int
    references: int


def export_scip(
    reader: Reader, root: str, write: Callable[[bytes], object], on_progress: Callable[[int, int], None]
) -> ScipExport:
    """Write the graph of one generation.

    Args:
        reader: The generation.
        root: The tree, as an absolute path.
        write: Receives the file piece by piece.
        on_progress: Called after every file, with the number done and of all.
    """
    metadata = messages().metadata(project_root=Path(root).as_uri(), text_document_encoding=TEXT_UTF8)
    metadata.tool_info.name, metadata.tool_info.version = "dowse", __version__
    _write_field(write, METADATA_FIELD, metadata)
    files = reader.files()
    names = _symbol_names(reader, files)
    counts = [0, 0, 0]
    for number, file in enumerate(files, 1):
        rows = reader.rows_of_files([file.file_id])
        if file.language in LANGUAGES and rows:
            document = _document(reader, file, rows, names)
            _write_field(write, DOCUMENTS_FIELD, document)
            counts[0] += 1
            counts[1] += len(document.symbols)
            counts[2] += len(document.occurrences) - len(document.symbols)
        on_progress(number, len(files))
    return ScipExport(*counts)


def _symbol_names(reader: Reader, files: Sequence[StoredFile]) -> dict[int, str]:
    """Return the name in SCIP of every symbol, by row."""
    names: dict[int, str] = {}
    for start in range(0, len(files), _BATCH):
        by_file: defaultdict[int, list[SymbolRow]] = defaultdict(list)
        for row in reader.rows_of_files([file.file_id for file in files[start : start + _BATCH]]):
            by_file[row.file_id].append(row)
        for rows in by_file.values():
            kinds = {row.qualified_name: row.kind for row in rows}
            seen: dict[str, int] = {}
            for parts in _without_parts(rows):
                number = seen.get(parts[0].qualified_name, 0)
                seen[parts[0].qualified_name] = number + 1
                names |= dict.fromkeys((part.row for part in parts), _symbol_name(parts[0], kinds, number))
    return names


def _symbol_name(row: SymbolRow, kinds: Mapping[str, str], number: int) -> str:
    """Return the name of a symbol: package, file, the types around it, and itself."""
    parents = row.qualified_name.split(".")
    folders = "".join(descriptor(part, "/") for part in row.path.split("/"))
    if row.kind == "module":
        return f"{symbol_head(row.repo)}{folders}"
    around = ""
    for count in range(1, len(parents)):
        is_type = kinds.get(".".join(parents[:count]), "class") in TYPE_KINDS
        around += descriptor(parents[count - 1], "#" if is_type else "().")
    # Of several with one name, all but the first have a number.
    name, suffix = parents[-1], f"(+{number})." if number else "()."
    if row.kind in TYPE_KINDS or row.kind == "constant":
        name, suffix = f"{name}{number or ''}", "#" if row.kind in TYPE_KINDS else "."
    return f"{symbol_head(row.repo)}{folders}{around}{descriptor(name, suffix)}"


def _without_parts(rows: Sequence[SymbolRow]) -> list[list[SymbolRow]]:
    """Return symbols, each with its parts: a long one is stored in several with one name and signature."""
    whole: dict[tuple[str, str, str], list[SymbolRow]] = {}
    for row in sorted(rows, key=lambda each: (each.start_line, -each.end_line, each.row)):
        whole.setdefault((row.kind, row.qualified_name, row.signature), []).append(row)
    return list(whole.values())


def _document(
    reader: Reader, file: StoredFile, rows: Sequence[SymbolRow], names: Mapping[int, str]
) -> Message:
    lines = reader.text(file.file_id).split(b"\n")
    document = messages().document(
        relative_path=file.path, language=_language(file.language), position_encoding=UTF8
    )
    edges = [
        edge
        for edge in reader.edges([row.row for row in rows], limit=1 << 30)
        # Guesses are not exported: a reader of SCIP takes every reference for certain.
        if is_sure(edge) and edge.target in names
    ]
    bases: defaultdict[str, set[str]] = defaultdict(set)
    for edge in edges:
        if edge.kind in ("extends", "implements"):
            bases[names[edge.source]].add(names[edge.target])
    for parts in _without_parts(rows):
        name = names[parts[0].row]
        _add_definition(document, parts, name, lines, sorted(bases[name]))
    for edge in dict.fromkeys(edges):
        _add_reference(document, edge, names[edge.target], lines)
    return document


def _add_definition(
    document: Message, parts: Sequence[SymbolRow], name: str, lines: Sequence[bytes], bases: Sequence[str]
) -> None:
    row = parts[0]
    line, column, length = _name_position(row, lines)
    last = min(max(part.end_line for part in parts), len(lines)) - 1
    document.occurrences.add(
        range=[line, column, column + length],
        symbol=name,
        symbol_roles=DEFINITION,
        enclosing_range=[row.start_line - 1, 0, last, len(lines[last])],
    )
    information = document.symbols.add(symbol=name, display_name=row.name, kind=KINDS.get(row.kind, 0))
    if row.signature:
        information.documentation.append(row.signature)
    for base in bases:
        information.relationships.add(symbol=base, is_implementation=True)


def _add_reference(document: Message, edge: Edge, name: str, lines: Sequence[bytes]) -> None:
    if edge.line <= len(lines):
        length = word_length(lines[edge.line - 1], edge.column)
        roles = IMPORT if edge.kind == "imports" else 0
        span = [edge.line - 1, edge.column, edge.column + length]
        document.occurrences.add(range=span, symbol=name, symbol_roles=roles)


def _name_position(row: SymbolRow, lines: Sequence[bytes]) -> tuple[int, int, int]:
    """Return line, column and length of the name of a definition, from 0; of its start if it has none."""
    if row.kind == "module" or not row.name:
        return row.start_line - 1, 0, 0
    name = row.name.encode()
    word = re.compile(rb"(?<![\w$])" + re.escape(name) + rb"(?![\w$])")
    head = row.signature.encode()
    before = word.search(head)
    # The words before the name tell a definition from a comment that mentions it.
    start = head[: before.start()].split()[-1:] if before else []
    found = None
    for number in range(row.start_line - 1, min(row.end_line, len(lines))):
        match = word.search(lines[number])
        if match and (not start or lines[number][: match.start()].rstrip().endswith(start[0])):
            return number, match.start(), len(name)
        if match and found is None:
            found = number, match.start(), len(name)
    return found or (row.start_line - 1, 0, 0)


def _language(language: str) -> str:
    """Return a language as SCIP writes it."""
    special = {"cpp": "CPP", "csharp": "CSharp", "javascript": "JavaScript", "typescript": "TypeScript"}
    return special.get(language, "PHP" if language == "php" else language.capitalize())


def _write_field(write: Callable[[bytes], object], number: int, message: Message) -> None:
    """Write one field of the outermost message, so that the whole is never in memory."""
    data = message.SerializeToString()
    write(bytes([number << 3 | _BYTES, *_varint(len(data))]) + data)


def _varint(value: int) -> Iterator[int]:
    while value > 0x7F:
        yield value & 0x7F | 0x80
        value >>= 7
    yield value
