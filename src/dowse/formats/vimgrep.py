"""`--format vimgrep`: `path:line:column:text`, one for every match, as `rg --vimgrep` prints it."""

from __future__ import annotations

from collections.abc import Iterable

from dowse.formats.locations import Spot


def write_vimgrep(spots: Iterable[Spot]) -> str:
    """Return places one a line."""
    return "".join(f"{spot.path}:{spot.line}:{spot.column}:{spot.text}\n" for spot in dict.fromkeys(spots))
