"""Settings of the C library's allocator, if it is GNU's (light to load)."""

from __future__ import annotations

import os

_ARENA_MAX = -8  # `M_ARENA_MAX`


def use_one_arena() -> None:
    """Let all threads of this process, and of those that it starts, allocate from one arena.

    By default each thread gets its own: that reserves up to 128 MB of address space, and what threads free
    stays with them, so that a server with many threads grows for hours.
    """
    os.environ.setdefault("MALLOC_ARENA_MAX", "1")
    try:
        import ctypes

        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
    except (ImportError, OSError, AttributeError):
        pass
