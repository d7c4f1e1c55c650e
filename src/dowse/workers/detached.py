"""Starts a Python process that outlives this one: in a session of its own, in `/`, without open files."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping

from dowse.workers.program import worker_program

# Descriptors that a process may have inherited, such as a pipe that somebody reads to its end.
_MAX_DESCRIPTOR = 1024


def can_detach() -> bool:
    """Whether this system can start such processes."""
    return hasattr(os, "posix_spawn")


def spawn_detached(module: str, argument: str, environment: Mapping[str, str]) -> None:
    """Run `main` of a module with one argument; neither Ctrl-C nor the end of the terminal ends it.

    Raises:
        OSError: There can be no more processes.
        NotImplementedError: The system's `posix_spawn` knows no sessions.
    """
    program = f"import os; os.chdir('/'); os.closerange(3, {_MAX_DESCRIPTOR})\n" + worker_program(module)
    standard = [(os.POSIX_SPAWN_OPEN, handle, os.devnull, os.O_RDWR, 0) for handle in (0, 1, 2)]
    os.posix_spawn(
        sys.executable,
        [sys.executable, "-P", "-c", program, argument],
        environment,
        file_actions=standard,
        setsid=True,
        setsigmask=[],
        setsigdef=[signal.SIGINT, signal.SIGTERM, signal.SIGHUP],
    )
