"""Everything about one symbol or name: its source, the outline of its file, its callers and callees."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from dowse.graph.model import GraphAnswer, GraphStep, Mention
from dowse.graph.queries import query_relation_of
from dowse.lazy_classes import dataclass
from dowse.security.safe_files import resolve_inside
from dowse.services.targets import Target, resolve_overloads
from dowse.types import Note, SymbolRow


@dataclass(frozen=True, slots=True)
class SymbolPage:
    """A symbol with its source, the outline of its file, its callers and callees."""

    index: str
    generation: int
    symbol: SymbolRow
    is_name: bool  # a constant, a field or such: it has uses instead of callers, and calls nothing
    owner: SymbolRow | None  # the symbol that a name is in
    doc: str
    code: str  # its own text: a class without its methods; of a name the lines around it
    code_lines: tuple[int, ...]  # the line numbers of `code` in the file
    source: str  # all lines from the first to the last, as indexed
    lines: int  # of the whole file
    file: str  # the path on this machine; "" for a corpus
    editor: str  # a link that opens it in an editor; "" without a file
    outline: tuple[SymbolRow, ...]  # the symbols of its file, by line; with it, if it is a name
    callers: tuple[GraphStep, ...]  # of a name its uses
    callers_total: int
    callers_tests: int  # of all callers, how many are tests; they come last
    mentions: tuple[Mention, ...]  # of its name, if no call of it is certain
    total_mentions: int
    callees: tuple[GraphStep, ...]
    callees_total: int
    callees_tests: int
    notes: tuple[Note, ...]


def symbol_page(target: Target, neighbours: int) -> SymbolPage:
    """Return a symbol with up to so many callers and callees."""
    served, reader, row = target
    whole = reader.symbols([row])[0]
    source, lines = _source(reader.text(row.file_id), row)
    file = _file(target)
    callers, callees = _neighbours(target, neighbours)
    outline = reader.rows_of_files([row.file_id])
    is_name = row.row < 0
    return SymbolPage(
        served.name,
        reader.generation,
        row._replace(signature=whole.signature),
        is_name=is_name,
        owner=_owner(row, outline) if is_name else None,
        doc=whole.doc,
        code=whole.code,
        code_lines=whole.line_numbers,
        source=source,
        lines=lines,
        file=file,
        editor=f"vscode://file/{quote(file.lstrip('/'))}:{row.start_line}" if file else "",
        outline=tuple(sorted([*outline, row], key=_by_lines) if is_name else outline),
        callers=callers.steps,
        callers_total=callers.total,
        callers_tests=callers.total_tests,
        mentions=callers.mentions,
        total_mentions=callers.total_mentions,
        callees=callees.steps,
        callees_total=callees.total,
        callees_tests=callees.total_tests,
        notes=tuple(dict.fromkeys([*callers.notes, *callees.notes])),
    )


def _by_lines(row: SymbolRow) -> tuple[int, int]:
    return row.start_line, -row.end_line


def _owner(name: SymbolRow, outline: Sequence[SymbolRow]) -> SymbolRow | None:
    """Return the symbol that a name is in."""
    path = name.qualified_name.rpartition(".")[0]
    return next((row for row in outline if path and row.qualified_name == path), None)


def _source(text: bytes, row: SymbolRow) -> tuple[str, int]:
    """Return the lines of a symbol, and the number of lines of its file."""
    text = text.removesuffix(b"\n")
    start = _line_start(text, row.start_line)
    end = max(start, _line_start(text, row.end_line + 1) - (row.end_line <= text.count(b"\n")))
    return text[start:end].decode("utf-8", "replace"), text.count(b"\n") + 1


def _line_start(text: bytes, number: int) -> int:
    """Return the offset of a line; the end of the text where there are fewer."""
    offset = 0
    for _ in range(number - 1):
        offset = text.find(b"\n", offset) + 1
        if not offset:
            return len(text)
    return offset


def _file(target: Target) -> str:
    """Return the path of a symbol's file, for a link; nothing is ever read from there."""
    root = target.served.index.root
    if target.reader.is_corpus or not root.is_dir():
        return ""
    try:
        return resolve_inside(root, target.row.path).as_posix()
    except OSError:
        return ""


def _neighbours(target: Target, limit: int) -> tuple[GraphAnswer, GraphAnswer]:
    """Return callers and callees, of a name its uses; a corpus has no call graph, and a file is not in it."""
    served, reader, row = target
    none = GraphAnswer("callers", (row,), (), 0, 1, reader.generation)
    if not row.row or reader.is_corpus or limit <= 0:
        return none, none
    seeds = resolve_overloads(served, reader, row.key)
    callers = query_relation_of(reader, "uses" if row.row < 0 else "callers", seeds, 1, limit)
    if row.row < 0:
        return callers, none
    return callers, query_relation_of(reader, "callees", seeds, 1, limit)
