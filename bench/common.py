"""What every benchmark shares: a result file names its command, commit and machine."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import dowse


def write_results(path: Path, results: dict[str, object]) -> None:
    """Write results beside what one needs to make them again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    about = {
        "command": "python " + " ".join(_general(argument) for argument in sys.argv),
        "commit": commit,
        "dowse": dowse.__version__,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
    }
    path.write_text(json.dumps({"about": about, "results": results}, indent=1) + "\n")
    print(f"wrote {path}", file=sys.stderr)


def _general(argument: str) -> str:
    """Return an argument without the folders of this machine."""
    return f"…/{Path(argument).name}" if argument.startswith(("/", "..")) else argument
