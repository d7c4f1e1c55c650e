"""The status of served indexes: what is indexed, how much of it is embedded, what changed since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dowse.errors import DowseError
from dowse.query.languages import KINDS
from dowse.security.terminal import decodable
from dowse.services.events import Hub
from dowse.services.indexes import ServedIndex
from dowse.version import __version__

_COPIED = (
    *("generation", "indexed_at", "files", "symbols", "source_bytes", "index_bytes", "encoder", "embedded"),
    *("skipped", "problems", "corpus", "changes", "repo", "commit"),
)
_MISSING: dict[str, Any] = {
    **dict.fromkeys(("repo", "commit", "encoder"), ""),
    **dict.fromkeys(("generation", "indexed_at", "files", "symbols", "source_bytes", "index_bytes"), 0),
    **dict.fromkeys(("embedded", "skipped", "problems"), 0),
    "corpus": False,
    "changes": {"new": 0, "changed": 0, "deleted": 0},
    "exists": False,
    "problem": "",
    "languages": [],
}


def index_status(served: ServedIndex, hub: Hub) -> dict[str, Any]:
    """Return the status of one index as plain data, but for its progress."""
    common = {
        "name": served.name,
        "root": decodable(str(served.index.root)),
        "progress": hub.latest(served.name),
        "kinds": list(KINDS),
    }
    try:
        facts = served.index.status() if served.index.exists else None
    except DowseError as error:
        return {**common, **_MISSING, "problem": str(error)}
    if facts is None:
        return {**common, **_MISSING}
    languages = sorted(facts["languages"].items(), key=lambda each: (-each[1], each[0]))
    return {
        **common,
        **{name: facts[name] for name in _COPIED},
        "exists": True,
        "problem": "",
        "languages": [{"language": name or "text", "files": count} for name, count in languages],
    }


def server_status(indexes: Sequence[dict[str, Any]], *, feedback: bool) -> dict[str, Any]:
    """Return the status of a server, given that of its indexes."""
    encoder = next((each["encoder"] for each in indexes if each["encoder"]), "")
    return {"dowse": __version__, "feedback": feedback, "encoder": encoder, "indexes": indexes}
