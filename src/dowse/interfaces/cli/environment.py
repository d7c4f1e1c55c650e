"""What a command finds around it: usually this process's own, in a warm process those of whoever asks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dowse.index import Index


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What differs from one who asks to the next."""

    environment: Mapping[str, str]  # what decides how answers look
    open_index: Callable[..., Index]  # as `Index.open`
    # Waits until what was saved is in the index (words, or vectors too); False if nobody sees to that.
    settle: Callable[[Index, bool], bool]


_current: ContextVar[Surroundings | None] = ContextVar("surroundings", default=None)


def stand_in(surroundings: Surroundings) -> None:
    """Let commands of this thread find these surroundings."""
    _current.set(surroundings)


def environment() -> Mapping[str, str]:
    """Return the environment that decides how answers look."""
    current = _current.get()
    return os.environ if current is None else current.environment


def open_index(path: str, **settings: object) -> Index:
    """Name an index; a warm process has it open."""
    current = _current.get()
    if current is not None:
        return current.open_index(path, **settings)
    from dowse.index import Index

    return Index.open(path, **settings)


def settled(index: Index, *, meaning: bool = False) -> bool:
    """Whether somebody watches the files and has taken in all that was saved: then none need be looked at."""
    current = _current.get()
    return current is not None and current.settle(index, meaning)
