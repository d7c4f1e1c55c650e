"""Symbols of an index as the protocol describes them."""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from dowse.graph.model import GraphStep
from dowse.interfaces.lsp.source import Source
from dowse.security.terminal import escape_name
from dowse.types import SymbolRow

_KINDS = {
    "alias": types.SymbolKind.Class,
    "class": types.SymbolKind.Class,
    "column": types.SymbolKind.Field,
    "constant": types.SymbolKind.Constant,
    "enum": types.SymbolKind.Enum,
    "enumerator": types.SymbolKind.EnumMember,
    "field": types.SymbolKind.Field,
    "file": types.SymbolKind.File,
    "function": types.SymbolKind.Function,
    "impl": types.SymbolKind.Class,
    "interface": types.SymbolKind.Interface,
    "key": types.SymbolKind.Key,
    "macro": types.SymbolKind.Function,
    "method": types.SymbolKind.Method,
    "module": types.SymbolKind.Module,
    "namespace": types.SymbolKind.Namespace,
    "object": types.SymbolKind.Object,
    "property": types.SymbolKind.Property,
    "prototype": types.SymbolKind.Function,
    "section": types.SymbolKind.String,
    "struct": types.SymbolKind.Struct,
    "table": types.SymbolKind.Struct,
    "text": types.SymbolKind.String,
    "trait": types.SymbolKind.Interface,
    "type": types.SymbolKind.Class,
}


def symbol_kind(row: SymbolRow) -> types.SymbolKind:
    """Return the nearest kind of the protocol; a macro without parameters is a name, and a constant."""
    if row.row < 0 and row.kind == "macro":
        return types.SymbolKind.Constant
    return _KINDS.get(row.kind, types.SymbolKind.Variable)


def display_name(row: SymbolRow) -> str:
    """Return the name of a symbol; of a part of a file without one, its path."""
    return escape_name(row.name or row.path.rpartition("/")[2])


def call_item(source: Source, row: SymbolRow, step: GraphStep | None = None) -> types.CallHierarchyItem:
    """Return a symbol of a call hierarchy; a step says how certain its edge is."""
    return types.CallHierarchyItem(**_item(source, row, step))


def type_item(source: Source, row: SymbolRow, step: GraphStep | None = None) -> types.TypeHierarchyItem:
    """Return a type of a type hierarchy."""
    return types.TypeHierarchyItem(**_item(source, row, step))


def _item(source: Source, row: SymbolRow, step: GraphStep | None) -> dict[str, Any]:
    certainty = step.certainty if step else ""
    place = f"{row.qualified_name} · {row.path}:{row.start_line}"
    data = {"id": row.key}
    if step is not None:
        data |= {"kind": step.edge.kind, "confidence": step.confidence, "certainty": certainty}
    return {
        "name": display_name(row),
        "kind": symbol_kind(row),
        "uri": source.folder.uri(row.path),
        "range": source.symbol_range(row),
        "selection_range": source.name_range(row),
        "detail": escape_name(f"{certainty} · {place}" if certainty else place),
        "data": data,
    }


def item_id(data: object) -> str:
    """Return the symbol's id from the data of an item that a client sends back; "" if it has none."""
    known = data.get("id") if isinstance(data, dict) else None
    return known if isinstance(known, str) else ""
