"""Everything about one symbol: its source, the outline of its file, its callers and callees."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from dowse.formats.json_format import graph_to_json, symbol_to_json
from dowse.graph.queries import query_relation_of
from dowse.security.safe_files import resolve_inside
from dowse.services.targets import Target, resolve_overloads
from dowse.types import Note, SymbolRow

_OUTLINE_FIELDS = ("id", "kind", "name", "qualified_name", "start_line", "end_line", "signature")
_NEIGHBOUR_FIELDS = ("symbol", "path", "line", "kind", "confidence", "certainty", "test")


def symbol_page(target: Target, neighbours: int) -> dict[str, Any]:
    """Return a symbol with up to so many callers and callees as plain data; its notes are `Note` objects."""
    served, reader, row = target
    whole = reader.symbols([row])[0]
    source, lines = _source(reader.text(row.file_id), row)
    file = _file(target)
    return {
        "index": served.name,
        "generation": reader.generation,
        "symbol": symbol_to_json(row),
        "doc": whole.doc,
        "code": whole.code,
        "code_lines": list(whole.line_numbers),
        "source": source,
        "lines": lines,
        "file": file,
        "editor": f"vscode://file/{quote(file.lstrip('/'))}:{row.start_line}" if file else "",
        "outline": [_outline_entry(each) for each in reader.rows_of_files([row.file_id])],
        **_neighbours(target, neighbours),
    }


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


def _outline_entry(row: SymbolRow) -> dict[str, Any]:
    data = symbol_to_json(row)
    return {name: data[name] for name in _OUTLINE_FIELDS}


def _neighbours(target: Target, limit: int) -> dict[str, Any]:
    """Return callers, callees and notes; a corpus has no call graph, and a whole file is not in it."""
    data: dict[str, Any] = {}
    notes: list[Note] = []
    has_graph = bool(target.row.row) and not target.reader.is_corpus and limit > 0
    reader = target.reader
    seeds = resolve_overloads(target.served, reader, target.row.key) if has_graph else ()
    for relation in ("callers", "callees"):
        answer = query_relation_of(reader, relation, seeds, 1, limit) if has_graph else None
        found: dict[str, Any] = (
            graph_to_json(answer) if answer else {"steps": [], "mentions": [], "total_mentions": 0}
        )
        data[relation] = [{name: step[name] for name in _NEIGHBOUR_FIELDS} for step in found["steps"]]
        data[f"{relation}_total"] = answer.total if answer else 0
        data[f"{relation}_tests"] = answer.total_tests if answer else 0
        notes += answer.notes if answer else ()
        if relation == "callers":
            data |= {name: found[name] for name in ("mentions", "total_mentions")}
    return {**data, "notes": list(dict.fromkeys(notes))}
