"""The folders of a call: those named on the command line, the client's roots, or the current folder."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequestParams,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from dowse.errors import DowseError
from dowse.index import Index
from dowse.security.terminal import escape_name
from dowse.services.folder_check import check_not_home
from dowse.source.git import toplevel

Context = ServerRequestContext[Any, Any]
# The key of the request for roots inside an answer.
_KEY = "roots"
# A client that does not answer in this time has no roots.
_ROOTS_SECONDS = 10.0
_REMEDY = "name the repositories where the client starts dowse: `dowse mcp PATH…`, or open the client in one"
# What an agent is told where it is not clear what to index: nothing is, until somebody decides.
_QUESTION = (
    "{folder} is no git repository, and the client named no folder: ask the user which folder to search. For "
    "this one run `dowse index {folder}`, then call again; for another, " + _REMEDY
)
_log = logging.getLogger("dowse.interfaces.mcp")


class Roots:
    """The roots of one server; over stdio it has one client, whose roots may change."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = tuple(paths)
        self._known: tuple[Path, ...] | None = None

    def forget(self) -> None:
        """Request the roots again: they have changed."""
        self._known = None

    async def resolve(
        self, context: Context, call: CallToolRequestParams
    ) -> tuple[Path, ...] | InputRequiredResult:
        """Return the folders of a call, or the request for roots that the client must answer first."""
        if self._paths:
            return self._paths
        capabilities = context.session.client_capabilities
        if capabilities is None or capabilities.roots is None:
            return current_folder()
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            # Since 2026-07-28 a server can't send requests: it answers with one, and is called again.
            response = (call.input_responses or {}).get(_KEY)
            if not isinstance(response, ListRootsResult):
                return InputRequiredResult(input_requests={_KEY: ListRootsRequest()})
            return _folders(response) or current_folder()
        if self._known is None:
            self._known = await _request_roots(context)
        return self._known or current_folder()


async def _request_roots(context: Context) -> tuple[Path, ...]:
    try:
        response = await context.session.send_request(
            ListRootsRequest(), ListRootsResult, request_read_timeout_seconds=_ROOTS_SECONDS
        )
    except MCPError as error:
        _log.warning(
            "the client does not list its roots (%s); the current folder is used", escape_name(str(error))
        )
        return ()
    return _folders(response)


def _folders(response: ListRootsResult) -> tuple[Path, ...]:
    """Return the roots that are folders of this machine."""
    addresses = [str(root.uri) for root in response.roots]
    paths = [Path(unquote(urlsplit(uri).path)) for uri in addresses if uri.startswith("file:")]
    folders = tuple(path for path in paths if path.exists())
    if addresses and not folders:
        # The current folder would be one that the client has not named.
        raise DowseError(
            f"none of the client's roots is a folder of this machine ({addresses[0]}, …); open a folder "
            "there, or start `dowse mcp PATH` with the repositories to search"
        )
    for folder in folders:
        check_not_home(folder, "the client names", _REMEDY)
    return folders


def current_folder() -> tuple[Path, ...]:
    """Return the current folder, if it is in a repository or has been indexed before."""
    current = Path.cwd()
    check_not_home(current, "no repositories are named, and dowse was started in", _REMEDY)
    top = toplevel(current)
    if top in (None, str(Path.home().resolve())) and not Index.open(current).exists:
        raise DowseError(_QUESTION.format(folder=shlex.quote(str(current))))
    return (current,)
