"""`dowse/related` and `dowse/status`."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pydantic import Field

from dowse.errors import DowseError
from dowse.formats.json_format import related_to_json
from dowse.interfaces.lsp.cursor import enclosing_symbol
from dowse.interfaces.lsp.folders import NotReady
from dowse.interfaces.lsp.search import add_places
from dowse.interfaces.lsp.session import Session
from dowse.services.indexes import ServedIndexes, index_status, server_status
from dowse.services.models.answer import RequestModel
from dowse.services.targets import open_target, related_to

_MAX_TARGET = 2_000


class RelatedParams(RequestModel):
    """The parameters of `dowse/related`: a symbol by id, name or `path:line`, or a line of a document."""

    target: str = Field(default="", max_length=_MAX_TARGET)
    uri: str | None = None  # of a document; with `line` instead of a target
    line: int = Field(default=0, ge=0)  # from 0, as the protocol counts
    k: int = Field(default=10, ge=1, le=100)


class StatusParams(RequestModel):
    """The parameters of `dowse/status`."""

    folder: str | None = None


def related(session: Session, params: RelatedParams) -> dict[str, Any]:
    """Return the answer that `dowse related --json` gives, with the URI and the range of each hit."""
    folders = session.selected(params.uri)
    if not folders:
        raise NotReady(f"{params.uri or 'the workspace'} has no folder that is indexed; open one")
    indexes = ServedIndexes(folder.served for folder in folders)
    with open_target(indexes, None, params.target or _location(session, params)) as target:
        folder = next(each for each in folders if each.served is target.served)
        encoder = folder.index.encoder
        if encoder is None:
            raise DowseError("there is no encoder; set `encoder`, e.g. to base")
        answer = related_to_json(related_to(target, encoder.id, params.k))
    hits = [*answer["neighbours"], *(answer["cluster"] or {"members": []})["members"]]
    add_places(session, folder, hits)
    return {**answer, "index": folder.served.name}


def status(session: Session, params: StatusParams) -> dict[str, Any]:
    """Return the status of every folder, as `GET /api/status` does."""
    found = session.find_folder(params.folder) if params.folder else None
    folders = [found[0]] if found else [] if params.folder else session.folders
    known = [index_status(folder.served, folder.broker) for folder in folders]
    return server_status(known, feedback=False).model_dump(mode="json")


def _location(session: Session, params: RelatedParams) -> str:
    """Return the symbol at a line of a document, as services name it."""
    if params.uri is None:
        raise DowseError("`target` or `uri` and `line` are missing; name a symbol or a line of a document")
    with session.read_document(types.TextDocumentIdentifier(params.uri)) as found:
        row = enclosing_symbol(*found, types.Position(params.line, 0)) if found else None
    if row is None:
        raise DowseError("there is no indexed symbol at this line; save the file, or choose another line")
    return row.key
