"""How the memory that indexing may take is divided among its processes (the setting `memory`)."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass

from dowse.config import Settings

_MEGABYTE = 1_000_000
# What this process takes beside the buffers that depend on the budget, and the least that a parser process
# can do with.
_BASE_BYTES = 150 * _MEGABYTE
_MIN_WORKER_BYTES = 100 * _MEGABYTE
_DEFAULT_BASE_BYTES, _DEFAULT_WORKER_BYTES = 350 * _MEGABYTE, 180 * _MEGABYTE


@dataclass(frozen=True, slots=True)
class MemoryBudget:
    """The limits that follow from the memory of all processes together."""

    processes: int  # parser processes
    worker_bytes: int  # of a parser process; a larger one is replaced between two files
    writer_bytes: int  # buffers of the text indexes
    commit_bytes: int  # text after which a generation is committed although more is to come


def memory_budget(settings: Settings) -> MemoryBudget:
    """Return the limits for these settings."""
    total = settings.memory * _MEGABYTE or _DEFAULT_BASE_BYTES + settings.processes * _DEFAULT_WORKER_BYTES
    rest = max(0, total - _BASE_BYTES)
    processes = min(settings.processes, max(1, rest * 2 // 3 // _MIN_WORKER_BYTES))
    worker_bytes = min(_DEFAULT_WORKER_BYTES, max(_MIN_WORKER_BYTES, rest * 2 // 3 // processes))
    buffers = max(0, rest - processes * worker_bytes)
    return MemoryBudget(
        processes,
        worker_bytes,
        writer_bytes=min(120 * _MEGABYTE, max(30 * _MEGABYTE, buffers)),
        commit_bytes=min(200 * _MEGABYTE, max(50 * _MEGABYTE, buffers)),
    )


def resident_bytes(pid: int) -> int:
    """Return the memory of a process without pages of mapped files, 0 where the system does not tell."""
    if sys.platform != "linux":
        return 0
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/statm", "rb") as file:
        _, resident, shared, *_ = map(int, file.read().split())
        return (resident - shared) * os.sysconf("SC_PAGE_SIZE")
    return 0
