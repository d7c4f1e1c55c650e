"""What every report names, so that its figures can be made again: commit, machine, command, date."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from dowse.version import __version__


def about(command: Sequence[str]) -> dict[str, object]:
    """Return where a run's figures come from; folders of this machine are left out of the command."""
    return {
        "command": " ".join(general(word) for word in command),
        "commit": own_commit(),
        "dowse": __version__,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "system": sys.platform,
    }


def own_commit() -> str:
    """Return the commit of dowse's own source, "" where it is installed without one."""
    folder = Path(__file__).resolve().parent
    done = subprocess.run(
        ["git", "-C", str(folder), "describe", "--always", "--dirty", "--exclude=*"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip()


def general(word: str) -> str:
    """Return a word of a command without the folders of this machine."""
    head, equals, tail = word.rpartition("=") if word.startswith("-") else ("", "", word)
    return f"{head}{equals}…/{Path(tail).name}" if tail.startswith(("/", "./", "../", "~")) else word
