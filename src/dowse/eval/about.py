"""What every report names, so that its figures can be made again: commit, machine, command, date."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from dowse.source.git import toplevel
from dowse.source.git_process import run_in_own_checkout
from dowse.version import __version__

# A place of this machine, at the start of a word or after what flags put before it: `semble=`, `a,`.
_PLACE = re.compile(r"(?:(?<=[=,])|\A)(?:/|\./|\.\./|~)[^=,]*")


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
    here = Path(__file__).resolve()
    # Only in a checkout of dowse. Installed inside some other repository, that one's commit says nothing, and
    # git would obey its configuration.
    if toplevel(here) != str(here.parents[3]) or here.parts[-4:-1] != ("src", "dowse", "eval"):
        return ""
    if not run_in_own_checkout(str(here.parent), "ls-files", "--error-unmatch", here.name):
        return ""
    # Not `describe --dirty`, which writes the index.
    commit = run_in_own_checkout(str(here.parent), "rev-parse", "--short", "HEAD")
    changed = run_in_own_checkout(str(here.parents[3]), "status", "--porcelain", "--untracked-files=no")
    return f"{commit}-dirty" if commit and changed else commit


def general(word: str) -> str:
    """Return a word of a command without the folders of this machine."""
    return _PLACE.sub(lambda place: f"…/{Path(place[0]).name}", word)
