"""The options of an MCP server, and its time limits with their reasons."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dowse.lazy_classes import dataclass, field
from dowse.services.web.options import Limits

# The first call on a repository waits so long until it can be searched. Clients give up after 60 s.
FIRST_SECONDS = 20.0
# Before a call is answered, files saved since the last one are indexed; another writer is waited for so long.
WRITER_SECONDS = 5.0
# New symbols are embedded before a call is answered, for so long.
EMBED_SECONDS = 2.0
# The time limit of a call; a lane of a search has 3 s, as always.
CALL_SECONDS = 20.0
# Trees too large to be checked before each call are updated in the background, at this interval.
LARGE_TREE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class McpOptions:
    """The options of one MCP server."""

    paths: tuple[Path, ...] = ()  # repositories to serve; none: the client's roots, else the current folder
    watch: bool = False  # update indexes when files change, not only before each call
    all_tools: bool = False  # list all tools, with all of their arguments
    structured: bool = False  # answers carry structured content, too: for programs rather than models
    settings: Mapping[str, Any] = field(default_factory=dict)  # of each index
    first_seconds: float = FIRST_SECONDS
    limits: Limits = field(default_factory=lambda: Limits(seconds=CALL_SECONDS))
