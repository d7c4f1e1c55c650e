"""What a command leaves to the resident process, which hears of it once the answer is written."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dowse.index import Index

_searched: list[Index] = []
_unfinished: list[Index] = []


def leave_unfinished(index: Index) -> None:
    """Have the rest of an index linked, embedded and learnt after this command."""
    _unfinished.append(index)


def leave_warm(index: Index) -> None:
    """Have a process stay that answers the next searches."""
    _searched.append(index)


def hand_over() -> None:
    """Tell the resident process, or start it."""
    if not _searched and not _unfinished:
        return
    from dowse.interfaces.daemon.resident import leave_resident

    sys.stdout.flush()
    leave_resident([*_unfinished, *_searched][0], _unfinished)
    _searched.clear()
    _unfinished.clear()
