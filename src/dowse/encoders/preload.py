"""Imports what encoders need in a thread, so that native libraries load while a command does other things."""

from __future__ import annotations

import contextlib
import os
import threading

# The variable that OpenBLAS reads when it is loaded.
_BLAS_THREADS = "OPENBLAS_NUM_THREADS"
_changing_environment = threading.Lock()


def preload() -> None:
    """Start to import NumPy and onnxruntime; returns at once."""
    threading.Thread(target=_import, name="dowse-preload", daemon=True).start()


def import_numpy() -> None:
    """Import NumPy without the threads of OpenBLAS: starting them takes as long as all of the import."""
    with _changing_environment:
        known = os.environ.get(_BLAS_THREADS)
        os.environ[_BLAS_THREADS] = known or "1"
        try:
            import numpy  # noqa: F401 - only loaded
        finally:
            if known is None:  # no child inherits it
                del os.environ[_BLAS_THREADS]


def _import() -> None:
    with contextlib.suppress(ImportError):  # whoever needs them says so
        import_numpy()
        from dowse.encoders.session import import_onnxruntime

        import_onnxruntime()
