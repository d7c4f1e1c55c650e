"""Memory of processes that live long: settings of the C library, if it is GNU's (light to load)."""

from __future__ import annotations

import gc
import os

_ARENA_MAX = -8  # `M_ARENA_MAX`
# Between Python's default (700), which costs a server much of its throughput, and that of short commands
# (entry.py), with which cycles pile up.
_COLLECTION_THRESHOLDS = (10_000, 10, 10)


def prepare_for_long_life() -> None:
    """Keep a server from growing: one arena for all threads, and cycles are collected as they come."""
    use_one_arena()
    gc.collect()
    gc.freeze()  # what is loaded stays: collections need not look through it
    gc.set_threshold(*_COLLECTION_THRESHOLDS)


def use_one_arena() -> None:
    """Let all threads of this process, and of those that it starts, allocate from one arena.

    By default each thread gets its own: that reserves up to 128 MB of address space, and what threads free
    stays with them, so that a server with many threads grows for hours.
    """
    os.environ.setdefault("MALLOC_ARENA_MAX", "1")
    _call("mallopt", _ARENA_MAX, 1)


def return_free_memory() -> None:
    """Give memory that is free back to the system.

    Python counts objects, not what native libraries keep for them, and so collects old cycles rarely; the C
    library by itself gives back only what is at the end of its heap.
    """
    gc.collect()
    _call("malloc_trim", 0)


def _call(function: str, *arguments: int) -> None:
    try:
        import ctypes

        getattr(ctypes.CDLL(None), function)(*arguments)
    except (ImportError, OSError, TypeError, AttributeError):  # another C library
        pass
