"""The command that a client starts."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path


def server_command(
    *, command: str = "", repositories: Sequence[str] = (), watch: bool = False, shared: bool = False
) -> list[str]:
    """Return the command of the server, word by word.

    Args:
        command: What to run instead of this installation, e.g. `uvx dowse`.
        repositories: What to answer for, where the client does not say.
        watch: Whether the server keeps its indexes true while files change.
        shared: Whether others read the file too, so that it must not name a place of this machine.
    """
    start = shlex.split(command) if command else ["dowse"] if shared else _this_installation()
    return [*start, "mcp", *(["--watch"] if watch else []), *(_absolute(each) for each in repositories)]


def _this_installation() -> list[str]:
    """Return how to start this very dowse: programs with windows do not know the shell's PATH."""
    beside = shutil.which("dowse", path=str(Path(sys.executable).parent))
    found = beside or shutil.which("dowse")
    return [str(Path(found).absolute())] if found else [sys.executable, "-m", "dowse.interfaces.cli.main"]


def _absolute(repository: str) -> str:
    return str(Path(repository).expanduser().absolute())
