"""Functions in forked processes: they begin at once, with all modules loaded, and may be killed."""

from __future__ import annotations

import importlib
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

# Whoever forks may have no threads, and NumPy starts some when it is loaded.
os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
# Of each process; a hang is a fault too.
LIMIT_SECONDS = 120.0


class Failed(Exception):
    """A forked process raised, or did not end."""


def load_modules(names: Iterable[str]) -> None:
    """Load what a forked process has loaded, but not what starts a thread."""
    for name in names:
        if name.partition(".")[0] not in ("__main__", "onnxruntime"):
            with suppress(ImportError):
                importlib.import_module(name)
    assert len(os.listdir("/proc/self/task")) == 1, "a module has started a thread"


def forked(function: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever the function returns
    """Return what a function returns in a process of its own."""
    reading, writing = os.pipe()

    def send() -> None:
        with os.fdopen(writing, "wb") as file:
            try:
                result = ("", function())
            except BaseException as error:
                result = ("".join(traceback.format_exception(error))[-2000:], None)
            pickle.dump(result, file)

    pid = fork(send)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        data = file.read()
    os.waitpid(pid, 0)
    failure, result = pickle.loads(data) if data else ("the process died", None)
    if failure:
        raise Failed(failure)
    return result


def fork(function: Callable[[], object], limit: float = LIMIT_SECONDS) -> int:
    """Run a function in a process of its own, for so many seconds at most (0: any), and return its id."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        signal.alarm(int(limit))
        function()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)
