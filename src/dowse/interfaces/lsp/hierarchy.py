"""Call hierarchy and type hierarchy, from the call graph; each edge says how certain it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from lsprotocol import types

from dowse.graph.model import GraphStep
from dowse.graph.type_hierarchy import is_type
from dowse.interfaces.lsp.cursor import enclosing_symbol, symbols_at
from dowse.interfaces.lsp.items import call_item, item_id, type_item
from dowse.interfaces.lsp.session import Session
from dowse.interfaces.lsp.source import Source
from dowse.services.targets import walk
from dowse.types import SymbolRow

Result = TypeVar("Result")
# Symbols of one level: nobody reads more, and an editor shows them all at once.
_MAX_STEPS = 200


def prepare_calls(
    session: Session, params: types.CallHierarchyPrepareParams
) -> list[types.CallHierarchyItem] | None:
    """Return the symbols that a position means; in a body, also the function around it."""
    with session.read_document(params.text_document) as found:
        if found is None:
            return None
        source, file = found
        rows = [meant.row for meant in symbols_at(source, file, params.position)]
        if not rows:
            around = enclosing_symbol(source, file, params.position)
            rows = [around] if around else []
        return [call_item(source, row) for row in rows] or None


def incoming_calls(
    session: Session, params: types.CallHierarchyIncomingCallsParams
) -> list[types.CallHierarchyIncomingCall]:
    """Return the callers of a symbol."""
    return _walk(
        *(session, params.item, "callers"),
        lambda source, _, step: types.CallHierarchyIncomingCall(
            call_item(source, step.symbol, step), _ranges(source, step, step.symbol)
        ),
    )


def outgoing_calls(
    session: Session, params: types.CallHierarchyOutgoingCallsParams
) -> list[types.CallHierarchyOutgoingCall]:
    """Return what a symbol calls."""
    return _walk(
        *(session, params.item, "callees"),
        lambda source, row, step: types.CallHierarchyOutgoingCall(
            call_item(source, step.symbol, step), _ranges(source, step, row)
        ),
    )


def prepare_types(
    session: Session, params: types.TypeHierarchyPrepareParams
) -> list[types.TypeHierarchyItem] | None:
    """Return the types that a position means."""
    with session.read_document(params.text_document) as found:
        if found is None:
            return None
        source, file = found
        rows = [meant.row for meant in symbols_at(source, file, params.position)]
        return [type_item(source, row) for row in rows if is_type(row)] or None


def supertypes(
    session: Session, params: types.TypeHierarchySupertypesParams
) -> list[types.TypeHierarchyItem]:
    """Return what a type extends and implements."""
    return _walk(session, params.item, "supertypes", _type_step)


def subtypes(session: Session, params: types.TypeHierarchySubtypesParams) -> list[types.TypeHierarchyItem]:
    """Return what extends or implements a type."""
    return _walk(session, params.item, "implementers", _type_step)


def _walk(
    session: Session,
    item: types.CallHierarchyItem | types.TypeHierarchyItem,
    relation: str,
    convert: Callable[[Source, SymbolRow, GraphStep], Result],
) -> list[Result]:
    """Return one level of a relation, converted; nothing if the item's symbol is gone."""
    found = session.find_folder(item.uri)
    if found is None or not found[0].is_searchable:
        return []
    with session.read(found[0]) as source:
        row = source.find(item_id(item.data))
        if row is None or not row.row:
            return []
        results = []
        for step in walk(source.target(row), relation, 1, _MAX_STEPS):
            session.call.check()
            results.append(convert(source, row, step))
        return results


def _type_step(source: Source, _: SymbolRow, step: GraphStep) -> types.TypeHierarchyItem:
    return type_item(source, step.symbol, step)


def _ranges(source: Source, step: GraphStep, caller: SymbolRow) -> list[types.Range]:
    """Return where the calls are, in the caller's file."""
    return [
        source.reference_range(edge.file_id, step.path, edge.line, edge.column)
        for edge in step.references
        if edge.file_id == caller.file_id
    ]
