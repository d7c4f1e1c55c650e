"""`$/progress` while an index is built, from the events of its folder."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from dowse.interfaces.lsp.folders import Folder
from dowse.security.terminal import escape_name
from dowse.services.events import ProgressEvent

if TYPE_CHECKING:
    from dowse.interfaces.lsp.server import LspServer

# An update of fewer files is over before anybody reads that it has begun.
_MIN_FILES = 50
# A client that does not answer in this time shows no progress.
_CREATE_SECONDS = 5.0
_UNITS = {"index": ("Indexing", "files"), "embed": ("Embedding", "symbols")}


async def report_progress(server: LspServer, folder: Folder) -> None:
    """Follow the updates of a folder until it is closed; the client shows the long ones."""
    token = ""
    with folder.broker.subscribe() as events:
        async for event in events:
            if event is None:
                continue
            if event.phase in ("embed", "done"):
                folder.is_searchable = True
            if event.phase in _UNITS:
                if not token and (folder.is_first_build or event.total >= _MIN_FILES):
                    token = await _begin(server, folder)
                if token:
                    _report(server, token, event)
            elif event.phase in ("done", "failed"):
                if token:
                    end = types.WorkDoneProgressEnd(message=escape_name(event.detail) or event.phase)
                    server.work_done_progress.end(token, end)
                token = ""
                folder.is_first_build = False
                server.index_changed(folder, event)


async def _begin(server: LspServer, folder: Folder) -> str:
    window = server.client_capabilities.window
    if window is None or not window.work_done_progress:
        return ""
    await server.ready.wait()
    token = str(uuid4())
    try:
        await asyncio.wait_for(server.work_done_progress.create_async(token), _CREATE_SECONDS)
    except (TimeoutError, JsonRpcException):  # the client would rather not
        return ""
    title = f"dowse: {folder.served.name}"
    server.work_done_progress.begin(token, types.WorkDoneProgressBegin(escape_name(title), percentage=0))
    return token


def _report(server: LspServer, token: str, event: ProgressEvent) -> None:
    verb, units = _UNITS[event.phase]
    percentage = min(100, 100 * event.done // max(1, event.total))
    text = f"{verb} {event.done:,} of {event.total:,} {units}"
    server.work_done_progress.report(token, types.WorkDoneProgressReport(message=text, percentage=percentage))
