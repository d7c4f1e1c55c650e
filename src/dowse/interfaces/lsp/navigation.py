"""Definition, references, hover, outline and code lenses; off unless a client switches them on."""

from __future__ import annotations

import re
import textwrap

from lsprotocol import types

from dowse.graph.model import is_sure
from dowse.graph.reachability import dispatching_method, reach
from dowse.interfaces.lsp.cursor import Meant, definitions_at, local_at, symbols_at
from dowse.interfaces.lsp.items import display_name, item_id, symbol_kind
from dowse.interfaces.lsp.local_names import Local
from dowse.interfaces.lsp.session import Session
from dowse.interfaces.lsp.source import Source
from dowse.security.terminal import escape_controls, escape_name
from dowse.services.targets import resolve_overloads, walk
from dowse.types import StoredFile, SymbolRow

# References that are listed.
_MAX_STEPS = 1_000
# Symbols that one hover describes, and lines of documentation.
_MAX_MEANT, _MAX_DOC_LINES = 3, 30
# Characters of the line of a name in an outline.
_MAX_DETAIL = 100
# Kinds that a lens counts callers of.
_CALLED = frozenset(["function", "method", "class", "struct", "macro"])


def definition(session: Session, params: types.DefinitionParams) -> list[types.Location]:
    """Return where the symbol at a position is defined; several places where none is certain."""
    with session.read_document(params.text_document) as found:
        if found is None:
            return []
        source, file = found
        meant = definitions_at(source, file, params.position)
        if meant:
            return [source.location(each.row) for each in meant]
        local = local_at(source, file, params.position)
        return [_place(source, file, local.line, local.column)] if local else []


def _place(source: Source, file: StoredFile, line: int, column: int) -> types.Location:
    return types.Location(
        source.folder.uri(file.path), source.reference_range(file.file_id, file.path, line, column)
    )


def references(session: Session, params: types.ReferenceParams) -> list[types.Location]:
    """Return what refers to the symbol at a position, in any way."""
    with session.read_document(params.text_document) as found:
        if found is None:
            return []
        source, file = found
        places: dict[tuple[str, int, int], types.Location] = {}
        for meant in symbols_at(source, file, params.position)[:1]:
            if params.context.include_declaration:
                places["", 0, 0] = source.location(meant.row)
            for step in walk(source.target(meant.row), "uses", 1, _MAX_STEPS):
                session.call.check()
                for edge in step.references:
                    where = source.reference_range(edge.file_id, step.path, edge.line, edge.column)
                    uri = source.folder.uri(step.path)
                    places[uri, edge.line, edge.column] = types.Location(uri, where)
        local = None if places else local_at(source, file, params.position)
        if local is not None:
            own = (local.line, local.column)
            kept = [each for each in local.references if params.context.include_declaration or each != own]
            return [_place(source, file, *each) for each in kept]
        return list(places.values())


def hover(session: Session, params: types.HoverParams) -> types.Hover | None:
    """Return signature, documentation and callers of the symbol at a position."""
    with session.read_document(params.text_document) as found:
        if found is None:
            return None
        source, file = found
        meant = symbols_at(source, file, params.position)
        is_plain = session.markup == types.MarkupKind.PlainText
        if not meant:
            local = local_at(source, file, params.position)
            shown = _describe_local(source, file, local, is_plain) if local else ""
            return types.Hover(types.MarkupContent(session.markup, shown)) if shown else None
        parts = ["\n\n".join(_describe(source, each, is_plain)) for each in meant[:_MAX_MEANT]]
        if len(meant) > _MAX_MEANT:
            parts.append(f"and {len(meant) - _MAX_MEANT} more")
        return types.Hover(types.MarkupContent(session.markup, "\n\n---\n\n".join(parts)))


def _describe_local(source: Source, file: StoredFile, local: Local, is_plain: bool) -> str:
    """Return the line that binds a parameter or variable, and the function that it is local to."""
    line = escape_controls(source.lines(file.file_id)[local.line - 1].strip(), keep="\t")
    facts = escape_controls(f"local to {local.function.qualified_name}\n{file.path}:{local.line}", keep="\n")
    blocks = [(line, file.language), (facts, "text")]
    return "\n\n".join(text if is_plain else _fenced(text, language) for text, language in blocks)


def _describe(source: Source, meant: Meant, is_plain: bool) -> list[str]:
    """Return signature, documentation and facts; of a name the lines around it instead."""
    row = meant.row
    whole = source.reader.symbols([row])[0]
    facts = [f"{row.kind} {row.qualified_name}", f"{row.path}:{row.start_line}"]
    facts += [meant.certainty] if meant.certainty else []
    facts += [_count_callers(source, meant.row)] if row.kind in _CALLED and row.row > 0 else []
    doc = "\n".join(whole.doc.strip().split("\n")[:_MAX_DOC_LINES])
    head = textwrap.dedent(whole.code).strip("\n") if row.row < 0 else row.signature or row.qualified_name
    blocks = [(head, row.language), (doc, "text"), ("\n".join(facts), "text")]
    shown = [(escape_controls(text, keep="\t\n"), language) for text, language in blocks if text]
    return [text if is_plain else _fenced(text, language) for text, language in shown]


def _fenced(text: str, language: str) -> str:
    """Return text of a repository as a block of code: nothing in it is a link, an image or markup."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _count_callers(source: Source, row: SymbolRow) -> str:
    """Return how many symbols call one, and how many of them for certain."""
    seeds = resolve_overloads(source.folder.served, source.reader, row.key)
    traversal, bases = reach(source.reader, "callers", seeds, 1)
    callers = [step for step in traversal.reached if step.edges[0].kind == "calls"]
    sure = sum(is_sure(step.edges[0]) and not dispatching_method(step, bases) for step in callers)
    noun = "caller" if len(callers) == 1 else "callers"
    possible = len(callers) - sure
    return f"{len(callers)} {noun}" + (f", {possible} of them possible" if possible else "")


def document_symbols(session: Session, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    """Return the outline of a document: definitions inside others, and names, are their children."""
    with session.read_document(params.text_document) as found:
        if found is None:
            return []
        source, file = found
        top: list[types.DocumentSymbol] = []
        around: list[tuple[SymbolRow, list[types.DocumentSymbol]]] = []  # with the children of each
        inside: dict[str, tuple[SymbolRow, list[types.DocumentSymbol]]] = {}  # the same by qualified name
        for row in source.definitions(file):
            children: list[types.DocumentSymbol] = []
            while around and around[-1][0].end_line < row.end_line:
                around.pop()
            (around[-1][1] if around else top).append(_outline_item(source, row, children))
            around.append((row, children))
            inside.setdefault(row.qualified_name, (row, children))
        for row in source.names(file):
            owner, children = inside.get(row.qualified_name.rpartition(".")[0], (row, top))
            is_within = owner.start_line <= row.start_line <= owner.end_line
            (children if is_within else top).append(_outline_item(source, row, []))
        for siblings in (top, *(children for _, children in inside.values())):
            siblings.sort(key=lambda item: (item.range.start.line, item.range.start.character))
        return top


def _outline_item(
    source: Source, row: SymbolRow, children: list[types.DocumentSymbol]
) -> types.DocumentSymbol:
    line = source.lines(row.file_id)[row.start_line - 1]
    return types.DocumentSymbol(
        name=display_name(row),
        kind=symbol_kind(row),
        range=source.symbol_range(row),
        selection_range=source.name_range(row),
        detail=escape_name(row.signature or line.strip()[:_MAX_DETAIL]),
        children=children,
    )


def code_lenses(session: Session, params: types.CodeLensParams) -> list[types.CodeLens]:
    """Return a lens for everything that can be called; its callers are counted when it is shown."""
    with session.read_document(params.text_document) as found:
        if found is None:
            return []
        source, file = found
        return [
            types.CodeLens(source.name_range(row), data={"id": row.key, "uri": params.text_document.uri})
            for row in source.definitions(file)
            if row.kind in _CALLED
        ]


def resolve_lens(session: Session, lens: types.CodeLens) -> types.CodeLens:
    """Return a lens with the number of callers."""
    uri = lens.data.get("uri") if isinstance(lens.data, dict) else None
    found = session.find_folder(uri) if isinstance(uri, str) else None
    if found is not None and found[0].is_searchable:
        with session.read(found[0]) as source:
            row = source.find(item_id(lens.data))
            title = _count_callers(source, row) if row is not None and row.row else ""
        command = session.options.code_lens_command
        lens.command = types.Command(title, command, arguments=[uri, lens.range.start])
    return lens
