"""Which folders a call is about: those named at the start, the client's roots, or the current folder."""

from __future__ import annotations

import logging
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
from dowse.security.terminal import escape_name

Context = ServerRequestContext[Any, Any]
# What the question for roots is called where it is part of an answer.
_KEY = "roots"
# A client that does not say its roots in this time has none.
_ROOTS_SECONDS = 10.0
_log = logging.getLogger("dowse.interfaces.mcp")


class Roots:
    """The folders of one server; over stdio it has one client, whose roots may change."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = tuple(paths)
        self._known: tuple[Path, ...] | None = None

    def forget(self) -> None:
        """Ask the client again: its roots have changed."""
        self._known = None

    async def of(
        self, context: Context, call: CallToolRequestParams
    ) -> tuple[Path, ...] | InputRequiredResult:
        """Return the folders of a call, or what the client must say first."""
        if self._paths:
            return self._paths
        capabilities = context.session.client_capabilities
        if capabilities is None or capabilities.roots is None:
            return current_folder()
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            # Since 2026-07-28 a server can't ask: it answers that it needs to know, and is called again.
            said = (call.input_responses or {}).get(_KEY)
            if not isinstance(said, ListRootsResult):
                return InputRequiredResult(input_requests={_KEY: ListRootsRequest()})
            return _folders(said) or current_folder()
        if self._known is None:
            self._known = await _asked(context)
        return self._known or current_folder()


async def _asked(context: Context) -> tuple[Path, ...]:
    try:
        said = await context.session.send_request(
            ListRootsRequest(), ListRootsResult, request_read_timeout_seconds=_ROOTS_SECONDS
        )
    except MCPError as error:
        _log.warning(
            "the client does not say its roots (%s); the current folder is taken", escape_name(str(error))
        )
        return ()
    return _folders(said)


def _folders(said: ListRootsResult) -> tuple[Path, ...]:
    """Return the roots that are folders of this machine."""
    found = [
        unquote(urlsplit(str(root.uri)).path) for root in said.roots if str(root.uri).startswith("file:")
    ]
    folders = tuple(Path(path) for path in found if Path(path).exists())
    if said.roots and not folders:
        # The current folder would be one that the client has not named.
        raise DowseError(
            f"none of the client's roots is a folder of this machine ({said.roots[0].uri}, …); open a folder "
            "there, or start `dowse mcp PATH` with the repositories to search"
        )
    for folder in folders:
        _check_width(folder, "the client names")
    return folders


def current_folder() -> tuple[Path, ...]:
    """Return where dowse was started, if that is no home folder."""
    current = Path.cwd()
    _check_width(current, "no repositories are named, and dowse was started in")
    return (current,)


def _check_width(folder: Path, how: str) -> None:
    """Refuse a home folder and all that is above it: nobody means to index everything they have."""
    home, real = Path.home().resolve(), folder.resolve()
    if home.is_relative_to(real):
        raise DowseError(
            f"{how} {folder}, which is not one repository; name the repositories where the client starts "
            "dowse: `dowse mcp PATH…`, or open the client in one"
        )
