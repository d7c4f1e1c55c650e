"""The memory that indexing takes: about 350 MB, and 180 MB for each parser process."""

from __future__ import annotations

import contextlib
import os
import sys

# Of a parser process: a larger one is replaced between two files.
WORKER_BYTES = 180_000_000
# Text after which a generation is committed although more is to come.
COMMIT_BYTES = 200_000_000


def resident_bytes(pid: int) -> int:
    """Return the memory of a process without pages of mapped files, 0 where the system does not tell."""
    if sys.platform != "linux":
        return 0
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/statm", "rb") as file:
        _, resident, shared, *_ = map(int, file.read().split())
        return (resident - shared) * os.sysconf("SC_PAGE_SIZE")
    return 0
