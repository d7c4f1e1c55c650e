"""News on other systems: the library `watchfiles`, which asks FSEvents or ReadDirectoryChangesW."""

from __future__ import annotations

import os
import select
import threading
from pathlib import Path

from dowse.source.git import git_directory, info_exclude
from dowse.watch.sources import GIT_EXCLUDE, LimitReached, News

# Milliseconds that changes are gathered for before they are handed over, and between two looks.
_GATHER, _STEP = 40, 20
_GIT_FILES = frozenset({"HEAD", "index", "index.lock"})


class Notify:
    """Watches a whole tree from a thread."""

    is_exact = False

    def __init__(self, root: Path) -> None:
        from watchfiles import _rust_notify as library

        self._root = os.path.realpath(root)
        self._git = git_directory(self._root)
        exclude = info_exclude(self._root)
        self._exclude = os.path.realpath(exclude) if exclude else ""
        kept = (self._git or "", os.path.dirname(self._exclude))  # noqa: PTH120
        outside = [place for place in kept if place and not place.startswith(self._root + os.sep)]
        places = [self._root, *(place for place in outside if Path(place).is_dir())]
        try:
            self._library = library.RustNotify(places, False, False, 0, True, True)
        except OSError as error:
            raise LimitReached(str(error)) from error
        self._lock = threading.Lock()
        self._news = News()
        self._stop = threading.Event()
        self._ready, self._tell = os.pipe()
        self._thread = threading.Thread(target=self._gather, name="dowse-notify", daemon=True)
        self._thread.start()

    @property
    def words(self) -> str:
        """How changes are seen, for people."""
        return "the system's events"

    def add(self, folder: str) -> None:
        """Do nothing: all folders are watched."""

    def wait(self, wake: int, seconds: float) -> None:
        """Wait for news, or to be woken."""
        select.select([self._ready, wake], [], [], seconds)

    def read(self) -> News:
        """Return what was gathered."""
        with self._lock:
            news, self._news = self._news, News()
            if news:
                os.read(self._ready, 1)
        return news

    def close(self) -> None:
        """Watch nothing any more."""
        self._stop.set()
        self._thread.join(1.0)
        self._library.close()
        os.close(self._ready)
        os.close(self._tell)

    def _gather(self) -> None:
        while not self._stop.is_set():
            found = self._library.watch(_GATHER, _STEP, 1000, self._stop)
            if found == "stop":
                return
            if isinstance(found, str):  # nothing happened
                continue
            paths = {known for _, path in found if (known := self._known(path)) is not None}
            if not paths:
                continue
            with self._lock:
                if not self._news:
                    os.write(self._tell, b"x")
                self._news.paths |= paths

    def _known(self, path: str) -> str | None:
        """Return a path as seen from the root; None for what git keeps to itself."""
        if path == self._exclude:
            return GIT_EXCLUDE
        folder, name = os.path.split(path)
        if self._git and (folder == self._git or folder.startswith(self._git + os.sep)):
            return f".git/{name}" if folder == self._git and name in _GIT_FILES else None
        return os.path.relpath(path, self._root).replace(os.sep, "/")
