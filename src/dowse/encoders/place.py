"""The part of a path that says what a file is about, as encoders read it."""

from __future__ import annotations

# File names that only say what role a file plays in its folder.
_NAMELESS = frozenset(("__init__", "__main__", "index", "main", "mod"))


def place_of(path: str) -> str:
    """Return the folder and the name of a file: `http client` for `src/http/client.py`."""
    parts = [part for part in path.split("/") if part]
    if not parts:
        return ""
    stem = parts[-1].rsplit(".", 1)[0]
    named = [] if stem in _NAMELESS else [stem]
    return " ".join(parts[-2:-1] + named)
