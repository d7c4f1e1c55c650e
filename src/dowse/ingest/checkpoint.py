"""What is done, written down as it gets done: a run that was killed goes on from there.

One line of JSON a repository, in a file for each index and way of indexing. It only says what is worth a
look: before a repository is skipped, what the index knows of its files is compared with them.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from dowse.config import cache_folder
from dowse.ingest.tasks import FAILED, Outcome
from dowse.security.safe_files import make_private_directory, write_atomically


class Checkpoint:
    """The repositories that were done, by path, each with what was noted then."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: dict[str, str] = _read(path)
        self._file = -1

    @classmethod
    def of(cls, backend: str, settings: Mapping[str, object]) -> Checkpoint:
        """Return that of an index and of what decides what lies in it."""
        said = json.dumps([backend, sorted((key, str(value)) for key, value in settings.items())])
        name = hashlib.blake2b(said.encode(), digest_size=10).hexdigest()
        return cls(cache_folder() / "ingest" / f"{name}.jsonl")

    def __enter__(self) -> Checkpoint:
        make_private_directory(self.path.parent)
        # Without what was said twice, or half.
        lines = [json.dumps({"path": path, "known": known}) + "\n" for path, known in self.done.items()]
        write_atomically(self.path, "".join(lines).encode())
        self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def note(self, outcome: Outcome) -> None:
        """Write down that a repository is done; of one that failed nothing is said."""
        if outcome.status == FAILED:
            return
        entry = {
            "path": outcome.path,
            "known": outcome.fingerprint,
            "repo": outcome.repo,
            "at": int(time.time()),
        }
        os.write(self._file, json.dumps(entry).encode() + b"\n")
        self.done[outcome.path] = outcome.fingerprint


def _read(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in path.read_bytes().splitlines():
            # A killed run may have left half a line.
            with contextlib.suppress(ValueError, KeyError, TypeError):
                entry = json.loads(line)
                found[str(entry["path"])] = str(entry["known"])
    return found
