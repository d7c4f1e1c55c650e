"""The environment that a command runs in: that of this process, or, in a warm process, that of its client."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dowse.index import Index


@dataclass(frozen=True, slots=True)
class Environment:
    """What a warm process replaces for each client."""

    variables: Mapping[str, str]  # environment variables that decide how answers look
    open_index: Callable[..., Index]  # as `Index.open`
    # Waits until saved files are in the index (with vectors or without); False if nothing watches the files.
    wait_for_updates: Callable[[Index, bool], bool]


_current: ContextVar[Environment | None] = ContextVar("environment", default=None)


def set_environment(environment: Environment) -> None:
    """Set the environment of the commands that this thread runs."""
    _current.set(environment)


def environment_variables() -> Mapping[str, str]:
    """Return the environment variables that decide how answers look."""
    current = _current.get()
    return os.environ if current is None else current.variables


def open_index(path: str, **settings: object) -> Index:
    """Open an index; a warm process has it open already."""
    current = _current.get()
    if current is not None:
        return current.open_index(path, **settings)
    from dowse.index import Index

    return Index.open(path, **settings)


def wait_for_updates(index: Index, *, vectors: bool = False) -> bool:
    """Return whether a watcher has indexed all saved files: then no file need be checked for changes."""
    current = _current.get()
    return current is not None and current.wait_for_updates(index, vectors)
