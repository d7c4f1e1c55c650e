"""`dowse/related` and `dowse/status`."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pydantic import BaseModel, ConfigDict, Field

from dowse.errors import DowseError
from dowse.interfaces.lsp.cursor import enclosing_symbol
from dowse.interfaces.lsp.folders import NotReady
from dowse.interfaces.lsp.search import add_places
from dowse.interfaces.lsp.session import Session
from dowse.json_form import document, to_json
from dowse.services.indexes import ServedIndexes, index_status, server_status
from dowse.services.targets import RelatedPage, open_target, related_to

_MAX_TARGET = 2_000


class RelatedParams(BaseModel):
    """The parameters of `dowse/related`: a symbol by id, name or `path:line`, or a line of a document."""

    model_config = ConfigDict(extra="forbid", strict=True)

    target: str = Field(default="", max_length=_MAX_TARGET)
    uri: str | None = None  # of a document; with `line` instead of a target
    line: int = Field(default=0, ge=0)  # from 0, as the protocol counts
    k: int = Field(default=10, ge=1, le=100)


class StatusParams(BaseModel):
    """The parameters of `dowse/status`."""

    model_config = ConfigDict(extra="forbid", strict=True)

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
        found = related_to(target, encoder.id, params.k)
    answer = document(RelatedPage(folder.served.name, found))
    add_places(session, folder, found.neighbours, answer["neighbours"])
    if found.cluster is not None:
        add_places(session, folder, found.cluster.members, answer["cluster"]["members"])
    return answer


def status(session: Session, params: StatusParams) -> dict[str, Any]:
    """Return the status of every folder, as `GET /api/v1/status` does."""
    found = session.find_folder(params.folder) if params.folder else None
    folders = [found[0]] if found else [] if params.folder else session.folders
    known = [index_status(folder.served, folder.broker) for folder in folders]
    answer: dict[str, Any] = to_json(server_status(known, feedback=False))
    return answer


def _location(session: Session, params: RelatedParams) -> str:
    """Return the symbol at a line of a document, as services name it."""
    if params.uri is None:
        raise DowseError("`target` or `uri` and `line` are missing; name a symbol or a line of a document")
    with session.read_document(types.TextDocumentIdentifier(params.uri)) as found:
        row = enclosing_symbol(*found, types.Position(params.line, 0)) if found else None
    if row is None:
        raise DowseError("there is no indexed symbol at this line; save the file, or choose another line")
    return row.key
