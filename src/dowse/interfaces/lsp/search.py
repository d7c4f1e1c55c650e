"""`workspace/symbol` and `dowse/search`: hybrid search over the folders of a client."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from functools import cache
from typing import Any

from lsprotocol import types
from pydantic import BaseModel, ConfigDict, Field, create_model

from dowse.errors import DowseError, QueryError
from dowse.interfaces.lsp.folders import Folder, NotReady
from dowse.interfaces.lsp.items import display_name, symbol_kind
from dowse.interfaces.lsp.session import Session
from dowse.interfaces.lsp.source import Source
from dowse.json_form import document, to_json
from dowse.search.options import OPTIONS
from dowse.security.terminal import escape_name
from dowse.services.merge import LOOKAHEAD, IndexResult, PageHit, SearchPage, merge_answers
from dowse.services.option_types import option_type
from dowse.types import Hit, SymbolRow

# Longer texts are no queries.
_MAX_QUERY = 10_000
_MAX_HITS = 200
# What may be the beginning of a name.
_NAME = re.compile(r"[^\W\d][\w.:]+\Z")


class SearchParams(BaseModel):
    """The parameters of `dowse/search`; the options of a search are added by `search_params`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    query: str = Field(max_length=_MAX_QUERY)
    k: int = Field(default=10, ge=1, le=_MAX_HITS)
    offset: int = Field(default=0, ge=0, le=1_000)
    folder: str | None = None  # the URI of a workspace folder, or of a file in one


@cache
def search_params() -> type[SearchParams]:
    """Return the parameters of `dowse/search` with all options of a search."""
    options: dict[str, Any] = {
        spec.name: (option_type(spec) | None, None) for spec in OPTIONS.values() if spec.in_http
    }
    return create_model("SearchParamsWithOptions", __base__=SearchParams, **options)


def search(session: Session, params: SearchParams) -> dict[str, Any]:
    """Return the answer that `dowse search --json` gives, with the URI and the range of each hit."""
    given = params.model_dump(exclude={"query", "k", "offset", "folder"}, exclude_none=True)
    folders = session.selected(params.folder)
    if not folders:
        raise NotReady(f"{params.folder or 'the workspace'} has no folder that is indexed; open one")
    page = _merged(session, folders, params.query, params.offset, params.k, **given)
    answer = document(page)
    for folder in folders:
        own = [at for at, each in enumerate(page.hits) if each.index == folder.served.name]
        hits, data = [page.hits[at].hit for at in own], [answer["hits"][at] for at in own]
        add_places(session, folder, hits, data)
    return answer


def add_places(session: Session, folder: Folder, hits: Sequence[Hit], data: Sequence[dict[str, Any]]) -> None:
    """Add to hits what an editor opens: the URI of the file, and the range of the name or the first match."""
    with session.read(folder) as source:
        for hit, each in zip(hits, data, strict=True):
            row = source.find(hit.symbol.id)
            each["uri"] = folder.uri(hit.symbol.path)
            each["range"] = _plain(_location(source, row, hit).range if row else None)


def _plain(extent: types.Range | None) -> dict[str, dict[str, int]] | None:
    if extent is None:
        return None
    ends = {"start": extent.start, "end": extent.end}
    return {name: {"line": end.line, "character": end.character} for name, end in ends.items()}


def workspace_symbols(session: Session, params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
    """Return names that begin as the query does, then what a search for it finds."""
    query, limit = params.query.strip()[:_MAX_QUERY], session.options.max_results
    folders = session.selected(None)
    if not query or not folders:
        return []
    found: dict[tuple[str, str], types.WorkspaceSymbol] = {}
    if _NAME.match(query):
        for folder in folders:
            with session.read(folder) as source:
                names = folder.served.names.load(source.reader).complete(query, limit)
                _add(source, [name.id for name in names], {}, found)
    if len(found) < limit:
        try:
            hits: Sequence[PageHit] = _merged(session, folders, query, 0, limit).hits
        except QueryError:  # half a regex, while one types
            hits = ()
        _add_hits(session, folders, hits, found)
    return list(found.values())[:limit]


def _add_hits(
    session: Session,
    folders: Sequence[Folder],
    hits: Sequence[PageHit],
    found: dict[tuple[str, str], types.WorkspaceSymbol],
) -> None:
    """Add the hits of all folders in their order."""
    ranked = {(each.index, each.hit.symbol.id): None for each in hits}
    added: dict[tuple[str, str], types.WorkspaceSymbol] = {}
    for folder in folders:
        name = folder.served.name
        own = {each.hit.symbol.id: each.hit for each in hits if each.index == name}
        with session.read(folder) as source:
            _add(source, list(own), own, added)
    for key in ranked:
        if key in added:
            found.setdefault(key, added[key])


def _add(
    source: Source,
    ids: Sequence[str],
    hits: dict[str, Hit],
    found: dict[tuple[str, str], types.WorkspaceSymbol],
) -> None:
    for symbol_id in ids:
        row = source.find(symbol_id)
        if row is not None:
            key = source.folder.served.name, symbol_id
            found.setdefault(key, _symbol(source, row, hits.get(symbol_id)))


def _symbol(source: Source, row: SymbolRow, hit: Hit | None) -> types.WorkspaceSymbol:
    container = row.qualified_name.rpartition(".")[0]
    return types.WorkspaceSymbol(
        location=_location(source, row, hit),
        name=display_name(row),
        kind=symbol_kind(row),
        container_name=escape_name(f"{container} · {row.path}" if container else row.path),
        data={"id": row.key, "confidence": to_json(hit.confidence) if hit else None},
    )


def _location(source: Source, row: SymbolRow, hit: Hit | None) -> types.Location:
    """Return the first line that a pattern matched, else where the symbol is named."""
    if hit and hit.matches:
        line = hit.matches[0].line
        where = source.reference_range(row.file_id, row.path, line, 0)
        return types.Location(source.folder.uri(row.path), where)
    return source.location(row)


def _merged(
    session: Session,
    folders: Sequence[Folder],
    query: str,
    offset: int,
    k: int,
    **options: Any,  # noqa: ANN401 - options have several types
) -> SearchPage:
    """Search the folders one after another: lanes run in parallel within each."""
    started = time.perf_counter()
    depth = offset + k + (LOOKAHEAD if len(folders) > 1 else 1)
    results = []
    for folder in folders:
        session.call.check()
        folder.refresh_if_due()
        try:
            found = folder.index.search(query, embed=False, **{**options, "k": depth})
            results.append(IndexResult(folder.served.name, found))
        except DowseError as error:
            results.append(IndexResult(folder.served.name, None, error))
    if all(result.error for result in results) and results[0].error:
        raise results[0].error
    return merge_answers(query, results, offset, k, 1000 * (time.perf_counter() - started))
