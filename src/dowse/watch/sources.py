"""The protocol of sources of file changes: inotify, the library `watchfiles`, or polling."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

# The path by which changes name the repository's own ignore file, wherever it is kept.
GIT_EXCLUDE = ".git/info/exclude"
# Of git's folder: what is checked out, and that it is being changed.
GIT_FILES = frozenset({"HEAD", "index", "index.lock"})


@dataclass(slots=True)
class FileChanges:
    """The paths that may have changed since the last read, relative to the root, with "/"."""

    paths: set[str] = field(default_factory=set)
    needs_scan: bool = False  # events were lost, or there are none: only a scan finds the changes

    def __bool__(self) -> bool:
        return self.needs_scan or bool(self.paths)


class ChangeSource(Protocol):
    """Reports which files may have changed. Git's own files are named `.git/NAME`, wherever they are kept."""

    is_exact: bool  # whether an empty read means that nothing has changed until this moment

    @property
    def description(self) -> str:
        """How changes are found, for people."""

    def add(self, folder: str) -> None:
        """Report changes in a folder too, from now on ("" for the root, else ending with "/")."""

    def wait(self, wake: int, seconds: float) -> None:
        """Wait until there are changes, until the file `wake` can be read, or for so long."""

    def read(self) -> FileChanges:
        """Return the changes, without waiting."""

    def close(self) -> None:
        """Stop watching."""


class WatchLimitReached(Exception):
    """The system does not watch that many folders; the message names the remedy."""
