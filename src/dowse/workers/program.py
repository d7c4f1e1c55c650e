"""The Python program of a child process (light to load)."""

from __future__ import annotations

import sys


def worker_program(module: str) -> str:
    """Return the Python program that runs `main` of a module, found on the search path of this process."""
    return f"import sys; sys.path[:] = {sys.path!r}\nfrom {module} import main; main()"
