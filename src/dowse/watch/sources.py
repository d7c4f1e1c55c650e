"""Sources of file changes: their protocol, and polling; see also `inotify`."""

from __future__ import annotations

import time
from typing import Protocol

from dowse.lazy_classes import dataclass, field

# The path by which changes name the repository's own ignore file, wherever it is kept.
GIT_EXCLUDE = ".git/info/exclude"
# Of git's folder: what is checked out, and that it is being changed.
GIT_FILES = frozenset({"HEAD", "index", "index.lock"})
# Polling: the shortest time between two scans; and they may take one part in so many of the time.
_MIN_SECONDS, _SHARE = 2.0, 20


@dataclass(slots=True)
class FileChanges:
    """The paths that may have changed since the last read, relative to the root, with "/"."""

    paths: set[str] = field(default_factory=set)
    needs_scan: bool = False  # events were lost, or there are none: only a scan finds the changes

    def __bool__(self) -> bool:
        return self.needs_scan or bool(self.paths)


class ChangeSource(Protocol):
    """Reports which files may have changed. Git's own files are named `.git/NAME`, wherever they are kept."""

    @property
    def description(self) -> str:
        """How changes are found, for people."""

    def add(self, folder: str) -> None:
        """Report changes in a folder too, from now on ("" for the root, else ending with "/")."""

    @property
    def handle(self) -> int:
        """A descriptor that is readable when there are changes; -1 if there is none."""

    def due(self) -> float:
        """Return when to read, by the monotonic clock, if nothing tells before."""

    def read(self) -> FileChanges:
        """Return the changes, without waiting."""

    def close(self) -> None:
        """Stop watching."""


class WatchLimitReached(Exception):
    """The system does not watch that many folders; the message names the remedy."""


class PollingSource:
    """Asks for a scan every few seconds, where the system reports no events; rarer where scans take long."""

    handle = -1

    def __init__(self, reason: str, min_seconds: float = _MIN_SECONDS) -> None:
        self._reason, self._min_seconds = reason, min_seconds
        self._seconds = min_seconds
        self._read_at: float | None = None
        self._next = 0.0

    @property
    def description(self) -> str:
        """How changes are found, for people."""
        return f"polling every {self._seconds:.0f} s ({self._reason})"

    def add(self, folder: str) -> None:
        """Do nothing: scans find folders."""

    def due(self) -> float:
        """Return when the next scan is due; the last one is done when this is called again."""
        now = time.monotonic()
        if self._read_at is not None:
            self._seconds = max(self._min_seconds, _SHARE * (now - self._read_at))
            self._next, self._read_at = now + self._seconds, None
        return self._next

    def read(self) -> FileChanges:
        """Ask for a scan, if one is due."""
        now = time.monotonic()
        if now < self._next:
            return FileChanges()
        self._read_at = now
        return FileChanges(needs_scan=True)

    def close(self) -> None:
        """Nothing is open."""
