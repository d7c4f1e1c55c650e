"""The provenance of a report, so that its figures can be reproduced: commit, machine, command, date."""

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

# A path of this machine, at the start of a word or after a prefix: `a=`, `a,`.
_LOCAL_PATH = re.compile(r"(?:(?<=[=,])|\A)(?:/|\./|\.\./|~)[^=,]*")


def about(command: Sequence[str]) -> dict[str, object]:
    """Return the provenance of a run; folders of this machine are removed from the command."""
    return {
        "command": " ".join(without_folders(word) for word in command),
        "commit": own_commit(),
        "dowse": __version__,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "system": sys.platform,
    }


def own_commit() -> str:
    """Return the commit of dowse's own source, "" where it is installed without one."""
    here = Path(__file__).resolve()
    # Only in a checkout of dowse. Installed inside another repository, that one's commit is meaningless, and
    # git would obey its configuration.
    if toplevel(here) != str(here.parents[3]) or here.parts[-4:-1] != ("src", "dowse", "eval"):
        return ""
    if not run_in_own_checkout(str(here.parent), "ls-files", "--error-unmatch", here.name):
        return ""
    # Not `describe --dirty`, which writes the index.
    commit = run_in_own_checkout(str(here.parent), "rev-parse", "--short", "HEAD")
    changed = run_in_own_checkout(str(here.parents[3]), "status", "--porcelain", "--untracked-files=no")
    return f"{commit}-dirty" if commit and changed else commit


def without_folders(word: str) -> str:
    """Return a word of a command with local paths shortened to their last part."""
    return _LOCAL_PATH.sub(lambda path: f"…/{Path(path[0]).name}", word)
