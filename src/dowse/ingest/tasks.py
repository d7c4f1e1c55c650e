"""Plain data that travels between the scheduler and the workers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

# Folders of one machine: every worker has its own.
_LOCAL_VARIABLES = frozenset(["DOWSE_CACHE_DIR", "DOWSE_DATA_DIR", "DOWSE_CONFIG", "DOWSE_INDEX_DIR"])
_PREFIX = "DOWSE_"

Status = Literal["done", "unchanged", "failed"]
DONE: Status = "done"
UNCHANGED: Status = "unchanged"
FAILED: Status = "failed"


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How every repository is indexed."""

    flags: Mapping[str, object]  # settings given on the command line
    embed: bool = True
    rebuild: bool = False
    wait: float | None = None
    # Settings and credentials of the scheduler's process. They travel with the options: Ray writes the
    # environment that it sets up for workers (`runtime_env`) to its logs.
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


class Counts(NamedTuple):
    """Files and symbols that were put so far."""

    files: int = 0
    symbols: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of indexing one repository."""

    path: str
    status: Status
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


def worker_environment() -> dict[str, str]:
    """Return the environment variables of this process that workers need."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(_PREFIX) and name not in _LOCAL_VARIABLES and value
    }
