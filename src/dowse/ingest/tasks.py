"""What travels between the one who hands out work and the workers: plain data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

# What says where things lie on one machine: the next has its own.
_PLACES = frozenset(["DOWSE_CACHE_DIR", "DOWSE_DATA_DIR", "DOWSE_CONFIG", "DOWSE_INDEX_DIR"])
_PREFIX = "DOWSE_"

DONE, UNCHANGED, FAILED = "done", "unchanged", "failed"


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be done with every repository."""

    flags: Mapping[str, object]  # settings given on the command line
    embed: bool = True
    rebuild: bool = False
    wait: float | None = None
    # Settings and credentials of whoever gives the order. They travel with the order itself: what Ray is told
    # to set up for workers (`runtime_env`) it writes to its logs.
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one repository."""

    path: str
    status: str  # DONE, UNCHANGED or FAILED
    problem: str = ""
    repo: str = ""
    added: int = 0
    changed: int = 0
    deleted: int = 0
    files: int = 0  # that were read
    symbols: int = 0
    encoded: int = 0
    seconds: float = 0.0
    fingerprint: str = ""  # of a corpus, which can't be compared file by file


@dataclass(frozen=True, slots=True)
class Doing:
    """How far one repository is."""

    files: int = 0
    symbols: int = 0


def environment_for_workers() -> dict[str, str]:
    """Return what workers must know of this process's environment."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(_PREFIX) and name not in _PLACES and value
    }
