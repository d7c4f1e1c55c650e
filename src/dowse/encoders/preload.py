"""Loads an encoder early: its libraries at once, its weights in a thread."""

from __future__ import annotations

import contextlib
import os
import threading

# The variable that OpenBLAS reads when it is loaded.
_BLAS_THREADS = "OPENBLAS_NUM_THREADS"


def preload(encoder: str, view: str, device: str, threads: int) -> None:
    """Import the libraries of a shipped encoder, and have its weights read while the caller goes on.

    Imports hold the interpreter's lock, so a thread for them would only slow down both; reading the weights
    is native code. Arguments are those of `load_encoder`, which then returns the same encoder.
    """
    _import_numpy()
    from dowse.encoders.registry import load_encoder
    from dowse.encoders.session import import_onnxruntime

    import_onnxruntime()
    loaded = load_encoder(encoder, view, device, threads)

    def read_weights() -> None:
        with contextlib.suppress(Exception):  # the search raises it again
            loaded.encode_queries(["a"])

    # No daemon thread: the interpreter must not end while native code of one runs, which aborts the process.
    threading.Thread(target=read_weights, name="dowse-preload").start()


def _import_numpy() -> None:
    """Import NumPy without the threads of OpenBLAS: starting them takes as long as all of the import."""
    known = os.environ.get(_BLAS_THREADS)
    os.environ[_BLAS_THREADS] = known or "1"
    try:
        import numpy  # noqa: F401 - only loaded
    finally:
        if known is None:  # no child inherits it
            del os.environ[_BLAS_THREADS]
