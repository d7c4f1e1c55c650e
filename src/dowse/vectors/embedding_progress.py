"""The process that goes on embedding after a search has answered: whether it runs, how far it is, its end.

Loads no NumPy. All is in a folder beside the index, `derived/embedding`:

    writer.lock       held by the process: so there is one for each index, however the last one ended
    progress.json     written by who starts it, then by the process; it ends when this file is removed

No signal is sent: on a shared disk the id in a lock may be that of a process on another machine.
"""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path

from dowse.errors import DowseError
from dowse.lazy_classes import NamedTuple
from dowse.security.safe_files import make_private_directory, write_atomically
from dowse.write_lock import lock_holder

_EMBEDDING, _PROGRESS = "embedding", "progress.json"
# A process that was announced counts as running so long: it starts after the answer, and has Python to load.
_START_SECONDS = 60.0
# How long to wait for a process that has to end; it looks for that after every second of work or so.
_END_SECONDS = 10.0
_POLL_SECONDS = 0.01


class EmbeddingProgress(NamedTuple):
    """How far the process is."""

    done: int  # symbols, of those that had no vector at its start
    total: int
    rate: float  # symbols per second; 0 if that is not known yet
    pid: int = 0  # 0 while the process starts

    @property
    def seconds_left(self) -> float | None:
        """The estimated time until all symbols have a vector; None if that is not known yet."""
        return max(0, self.total - self.done) / self.rate if self.rate > 0 else None

    @property
    def time_left(self) -> str:
        """The same in words."""
        seconds = self.seconds_left
        if seconds is None:
            return "the rest follows in the background"
        if seconds < 60:
            return "less than a minute left"
        minutes = round(seconds / 60)
        return f"about {minutes} min left" if minutes < 90 else f"about {round(minutes / 60)} h left"


class EmbeddingFolder:
    """The files of the process of one index."""

    def __init__(self, derived: Path) -> None:
        """Name the folder; `derived` is that of what is derived from the index (`Reader.cache_folder`)."""
        self.path = derived / _EMBEDDING

    def is_requested(self) -> bool:
        """Whether the process is to go on."""
        return (self.path / _PROGRESS).exists()

    def report(self, progress: EmbeddingProgress) -> None:
        """Write the progress; that must not end the process, whatever is wrong with the disk."""
        with contextlib.suppress(OSError, DowseError):
            make_private_directory(self.path)
            write_atomically(self.path / _PROGRESS, json.dumps(progress._asdict()).encode())

    def progress(self) -> EmbeddingProgress | None:
        """Return the progress of the process; None if none runs."""
        file = self.path / _PROGRESS
        progress = _read(file)
        if progress is None or progress.pid:
            return progress if progress and progress.pid == lock_holder(self.path) else None
        try:
            age = time.time() - file.stat().st_mtime
        except OSError:
            return None
        return progress if 0 <= age < _START_SECONDS else None

    def remove_request(self) -> None:
        """Have the process end, and do not wait for it; what it has committed stays."""
        with contextlib.suppress(OSError):
            (self.path / _PROGRESS).unlink(missing_ok=True)

    def end_process(self) -> None:
        """End the process, if one runs, and wait until it is gone."""
        deadline = time.monotonic() + _END_SECONDS
        self.remove_request()
        while lock_holder(self.path) is not None and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
            self.remove_request()  # it may have been about to write it


def announce_embedding(derived: Path | None, expected: EmbeddingProgress) -> None:
    """Let answers say that a process will embed the rest, which is to be started; nothing if one runs."""
    if derived is not None and read_progress(derived) is None:
        EmbeddingFolder(derived).report(expected)


def read_progress(derived: Path | None) -> EmbeddingProgress | None:
    """Return the progress of the process of an index; None if none runs, or the index is on a cluster."""
    return None if derived is None else EmbeddingFolder(derived).progress()


def _read(path: Path) -> EmbeddingProgress | None:
    try:
        values = json.loads(path.read_bytes())
        return EmbeddingProgress(
            int(values["done"]), int(values["total"]), float(values["rate"]), int(values["pid"])
        )
    except (OSError, ValueError, TypeError, KeyError, OverflowError):
        return None
