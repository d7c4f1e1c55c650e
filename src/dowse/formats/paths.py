"""`--format path`: each file once, in the order of the answer."""

from __future__ import annotations

from collections.abc import Iterable

from dowse.formats.locations import Spot


def write_paths(spots: Iterable[Spot]) -> str:
    """Return the files of some places, one a line."""
    return "".join(f"{path}\n" for path in dict.fromkeys(spot.path for spot in spots))
