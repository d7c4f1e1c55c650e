"""File changes on other systems: the library `watchfiles`, which uses FSEvents or ReadDirectoryChangesW."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from dowse.source.git import git_directory, info_exclude
from dowse.watch.sources import GIT_EXCLUDE, GIT_FILES, FileChanges, WatchLimitReached

# Milliseconds for which the library coalesces events, and between two looks at its queue.
_DEBOUNCE, _STEP = 40, 20


class WatchfilesSource:
    """Watches a whole tree from a thread."""

    is_exact = False

    def __init__(self, root: Path) -> None:
        from watchfiles import _rust_notify as library

        self._root = os.path.realpath(root)
        self._git = git_directory(self._root)
        exclude = info_exclude(self._root)
        self._exclude = os.path.realpath(exclude) if exclude else ""
        git_folders = (self._git or "", os.path.dirname(self._exclude))  # noqa: PTH120
        outside = [path for path in git_folders if path and not path.startswith(self._root + os.sep)]
        folders = [self._root, *(path for path in outside if Path(path).is_dir())]
        try:
            self._library = library.RustNotify(folders, False, False, 0, True, True)
        except OSError as error:
            raise WatchLimitReached(str(error)) from error
        self._lock = threading.Lock()
        self._changes = FileChanges()
        self._stop = threading.Event()
        self.handle, self._waker = os.pipe()
        self._thread = threading.Thread(target=self._collect, name="dowse-notify", daemon=True)
        self._thread.start()

    @property
    def description(self) -> str:
        """How changes are found, for people."""
        return "the system's events"

    def add(self, folder: str) -> None:
        """Do nothing: all folders are watched."""

    def due(self) -> float:
        """Return a time that never comes: the handle tells."""
        return float("inf")

    def read(self) -> FileChanges:
        """Return the changes collected so far."""
        with self._lock:
            changes, self._changes = self._changes, FileChanges()
            if changes:
                os.read(self.handle, 1)
        return changes

    def close(self) -> None:
        """Stop watching."""
        self._stop.set()
        self._thread.join(1.0)
        self._library.close()
        os.close(self.handle)
        os.close(self._waker)

    def _collect(self) -> None:
        while not self._stop.is_set():
            events = self._library.watch(_DEBOUNCE, _STEP, 1000, self._stop)
            if events == "stop":
                return
            if isinstance(events, str):  # nothing happened
                continue
            paths = {name for _, path in events if (name := self._relative(path)) is not None}
            if not paths:
                continue
            with self._lock:
                if not self._changes:
                    os.write(self._waker, b"x")
                self._changes.paths |= paths

    def _relative(self, path: str) -> str | None:
        """Return a path relative to the root; None for files that only git uses."""
        if path == self._exclude:
            return GIT_EXCLUDE
        folder, name = os.path.split(path)
        if self._git and (folder == self._git or folder.startswith(self._git + os.sep)):
            return f".git/{name}" if folder == self._git and name in GIT_FILES else None
        return os.path.relpath(path, self._root).replace(os.sep, "/")
