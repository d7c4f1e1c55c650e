"""Where news of changed files come from: one protocol, and which of its forms fits this system."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

# What news call the repository's own ignore file, wherever it is kept.
GIT_EXCLUDE = ".git/info/exclude"


@dataclass(slots=True)
class News:
    """What happened since somebody last asked; paths are relative to the root, with "/"."""

    paths: set[str] = field(default_factory=set)
    lost: bool = False  # more happened than can be told: only a scan knows

    def __bool__(self) -> bool:
        return self.lost or bool(self.paths)


class Source(Protocol):
    """Tells which files may have changed. Git's own files come as `.git/NAME`, wherever they are kept."""

    is_exact: bool  # whether silence means that nothing has changed until this moment

    @property
    def words(self) -> str:
        """How changes are seen, for people."""

    def add(self, folder: str) -> None:
        """Tell of changes in a folder too, from now on ("" for the root, else ending with "/")."""

    def wait(self, wake: int, seconds: float) -> None:
        """Wait until there are news, until the file `wake` can be read, or for so long."""

    def read(self) -> News:
        """Return the news, at once."""

    def close(self) -> None:
        """Let go of everything."""


class LimitReached(Exception):
    """The system does not watch that many folders; the message says what to do."""


def open_source(root: Path, poll: bool) -> Source:
    """Return what tells of changes under a folder."""
    from dowse.watch.polling import Polling

    if poll:
        return Polling("as asked")
    if sys.platform.startswith("linux"):
        from dowse.watch.inotify import Inotify

        return Inotify(root)
    from dowse.watch.watchfiles_source import Notify

    return Notify(root)
