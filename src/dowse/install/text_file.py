"""A whole file of ours among those of a client: a skill, a sub-agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dowse.install.editing import EditError

# In every such file; one without it is somebody else's.
MARK = "<!-- written by `dowse install`; `--uninstall` removes it -->"


def get_entry(text: str, _keys: Sequence[str] = ()) -> str | None:
    """Return the text if it is ours, None if there is none."""
    return text if MARK in text else None


def set_entry(text: str, _keys: Sequence[str], entry: Mapping[str, Any]) -> str:
    """Return our text; refuse to replace another."""
    if text and MARK not in text:
        raise EditError("this file is not from dowse; move it away", text, 0)
    return str(entry["text"])


def remove_entry(text: str, _keys: Sequence[str], _prune: int = 0) -> str:
    """Return the text without ours: nothing."""
    return "" if MARK in text else text
