"""The log of a training run: one JSON object a line, in a file and on the terminal."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any


class Journal:
    """Appends to log.jsonl, so that a resumed run goes on where it stopped."""

    def __init__(self, path: Path, *, quiet: bool = False) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._quiet = quiet
        self._began = time.monotonic()

    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._began

    def write(self, **fields: Any) -> None:  # noqa: ANN401 (whatever JSON can hold)
        """Add one record, with the time since the start."""
        line = json.dumps({"t": round(self.seconds(), 1), **fields}) + "\n"
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(line)
        if not self._quiet:
            sys.stdout.write(line)
            sys.stdout.flush()


def read(path: Path) -> list[dict[str, Any]]:
    """Read all records; a last line cut off by a kill is left out."""
    records = []
    for line in path.read_text("utf-8").splitlines():
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return records
