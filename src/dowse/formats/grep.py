"""`--format grep`: `path:line:text`, what `grep -n` prints and every editor reads."""

from __future__ import annotations

from collections.abc import Iterable

from dowse.formats.locations import Spot


def write_grep(spots: Iterable[Spot]) -> str:
    """Return places one a line; several matches of a line are one."""
    lines = dict.fromkeys((spot.path, spot.line, spot.text) for spot in spots)
    return "".join(f"{path}:{line}:{text}\n" for path, line, text in lines)
