"""How an MCP server behaves: what `dowse mcp` takes, and limits with their reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dowse.interfaces.http.options import Limits

# The first call on a repository waits so long for its words to be indexed. Clients give up after 60 s.
FIRST_SECONDS = 20.0
# Before a call answers, what was saved since the last one is taken in; another writer is waited for so long.
WRITER_SECONDS = 5.0
# New symbols are embedded before a call answers, for so long.
EMBED_SECONDS = 2.0
# A call that is worked on has so long; a lane of a search 3 s, as always.
CALL_SECONDS = 20.0
# Trees too large to look through before each call are brought up to date in the background, so often.
LARGE_TREE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class McpOptions:
    """All that can be chosen of an MCP server."""

    paths: tuple[Path, ...] = ()  # what it serves; none: the client's roots, else the current folder
    watch: bool = False  # keep indexes true all the time, not only before each call
    warm: bool = False  # answer `dowse search` and the like, too, while the process is up
    # Whether answers carry data beside the text: auto, always or never; auto unless a model would read that.
    structured: str = "auto"
    settings: Mapping[str, object] = field(default_factory=dict)  # of each index
    first_seconds: float = FIRST_SECONDS
    limits: Limits = field(default_factory=lambda: Limits(seconds=CALL_SECONDS))
