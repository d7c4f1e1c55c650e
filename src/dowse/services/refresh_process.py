"""A process that brings one index up to date and says how far it is: one JSON object a line.

It is apart from the server, so that searches never wait for it, and so that it can be ended at any moment:
what is committed stays. It ends by itself when the server does, because then its input ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, TextIO

from dowse.config import Settings
from dowse.errors import DowseError
from dowse.index import Index
from dowse.indexing.update import Progress
from dowse.storage.open import open_backend

# Reports of how far it is, at most so often.
_EVERY_SECONDS = 0.1
# Searches come first where cores are scarce.
_NICENESS = 5


class _Teller:
    """Writes what happens, not too often."""

    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._last = 0.0

    def far(self, phase: str, progress: Progress) -> None:
        """Say how far a phase is."""
        now = time.monotonic()
        if now - self._last >= _EVERY_SECONDS or progress.done == progress.total:
            self._last = now
            self.say(phase, progress.done, progress.total)

    def say(self, phase: str, done: int = 0, total: int = 0, detail: str = "") -> None:
        """Say something now."""
        line = {"phase": phase, "done": done, "total": total, "detail": detail}
        self._output.write(json.dumps(line) + "\n")
        self._output.flush()


def main() -> int:
    """Read what to do from the first line of the input; do it."""
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(OSError, AttributeError):
        os.nice(_NICENESS)
    teller = _Teller(sys.stdout)
    try:
        teller.say("done", detail=_refresh(job, teller))
    except (DowseError, OSError) as error:
        teller.say("failed", detail=str(error))
        return 1
    return 0


def _refresh(job: dict[str, Any], teller: _Teller) -> str:
    settings = Settings(**{**job["settings"], "exclude": tuple(job["settings"]["exclude"])})
    root = Path(job["root"])
    with Index(root, settings, open_backend(job["address"], root)) as index:
        if index.exists and not job["rebuild"]:
            index = index.as_built()
        report = index.update(
            rebuild=job["rebuild"],
            on_progress=lambda progress: teller.far("index", progress),
            on_wait=lambda message: teller.say("waiting", detail=message),
        )
        said = f"{report.added:,} added, {report.changed:,} changed, {report.deleted:,} deleted"
        if index.encoder is None or not index.unembedded():
            return said
        teller.say("embed", 0, index.unembedded())
        embedded = index.embed(
            on_progress=lambda progress: teller.far("embed", progress),
            on_wait=lambda message: teller.say("waiting", detail=message),
        )
        return f"{said}; {embedded.encoded + embedded.reused:,} embedded"


def _end_with_parent() -> None:
    """End this process and those it started when the server closes the line, or is gone."""
    while sys.stdin.readline():
        pass
    if hasattr(os, "killpg"):
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
