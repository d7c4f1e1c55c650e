"""The checkpoint of a run: repositories are recorded as they get done, so that a killed run resumes.

One line of JSON a repository, in a file for each index and its settings. A checkpoint is only a hint: its
files are compared with the index before a repository is skipped.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path

from dowse.config import cache_folder
from dowse.ingest.repository import FAILED, Outcome
from dowse.security.safe_files import make_private_directory, write_atomically


class Checkpoint:
    """The repositories that were done, by path, each with its fingerprint."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: dict[str, str] = _read(path)
        self._file = -1

    @classmethod
    def for_index(cls, backend: str, settings: Mapping[str, object]) -> Checkpoint:
        """Return the checkpoint of an index and of the settings that decide its content."""
        key = json.dumps([backend, sorted((name, str(value)) for name, value in settings.items())])
        name = hashlib.blake2b(key.encode(), digest_size=10).hexdigest()
        return cls(cache_folder() / "ingest" / f"{name}.jsonl")

    def __enter__(self) -> Checkpoint:
        make_private_directory(self.path.parent)
        # Compacted: without repeated and truncated lines.
        lines = [json.dumps({"path": path, "known": known}) + "\n" for path, known in self.done.items()]
        write_atomically(self.path, "".join(lines).encode())
        self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def record(self, outcome: Outcome) -> None:
        """Append a repository that is done; failures are not recorded."""
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
    done: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in path.read_bytes().splitlines():
            # A killed run may have left a truncated line.
            with contextlib.suppress(ValueError, KeyError, TypeError):
                entry = json.loads(line)
                done[str(entry["path"])] = str(entry["known"])
    return done
