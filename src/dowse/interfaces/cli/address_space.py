"""A limit of the address space (`ulimit -v`), to which native libraries are fitted (light to load)."""

from __future__ import annotations

import os

from dowse.errors import DowseError

# What tantivy, NumPy and onnxruntime reserve for a small repository, once they are fitted.
_NEEDED_MEGABYTES = 300
# `M_ARENA_MAX` of the C library: without it, each thread reserves up to 128 MB.
_ARENA_MAX = -8


def fit_address_space() -> None:
    """Let native libraries reserve less where the address space is limited.

    Raises:
        DowseError: Too little is left: they would abort the process, without a message that helps.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        return
    import mmap

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("MALLOC_ARENA_MAX", "1")  # of the processes that this one starts
    try:
        mmap.mmap(-1, _NEEDED_MEGABYTES << 20).close()
    except OSError as error:
        raise DowseError(
            f"the limit of the address space leaves less than {_NEEDED_MEGABYTES} MB; raise it (`ulimit -v`)"
        ) from error
    _limit_arenas()


def _limit_arenas() -> None:
    """Have the threads of this process share one arena of the C library, if it is GNU's."""
    try:
        import ctypes

        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
    except (ImportError, OSError, AttributeError):
        pass
