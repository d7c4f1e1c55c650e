"""A limit of the address space (`ulimit -v`), to which native libraries are fitted (light to load)."""

from __future__ import annotations

import os

from dowse.errors import DowseError
from dowse.process_memory import use_one_arena

# What tantivy, NumPy and onnxruntime reserve for a small repository, once they are fitted.
_NEEDED_MEGABYTES = 300


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
    try:
        mmap.mmap(-1, _NEEDED_MEGABYTES << 20).close()
    except OSError as error:
        raise DowseError(
            f"the limit of the address space leaves less than {_NEEDED_MEGABYTES} MB; raise it (`ulimit -v`)"
        ) from error
    use_one_arena()
