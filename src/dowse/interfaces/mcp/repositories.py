"""The repositories of a server, each opened on first use."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dowse.errors import DowseError
from dowse.index import Index
from dowse.security.terminal import escape_surrogates
from dowse.services.engine import Engine
from dowse.services.events import EventBroker
from dowse.services.indexes import ServedIndex, unique_name

# Calls that may wait for one repository at the same time.
_MAX_LISTENERS = 1_000
_LOCATION = re.compile(r"(?P<path>.+?)(?P<line>:\d+(?::\d+)?)(?:-\d+)?\Z")


class OutsideRoots(DowseError):
    """A path that is in none of the repositories."""


class Repository:
    """One index, and the events of its updates."""

    def __init__(self, served: ServedIndex, engine: Engine) -> None:
        self.served, self._engine = served, engine
        self.broker = EventBroker(_MAX_LISTENERS)
        self.check_lock = threading.Lock()  # held while changed files are looked for
        self.checked_at = 0.0  # when that last began
        self.is_first_build = False  # whether it is being indexed for the first time
        self.refreshed_at = 0.0  # when an update in the background was last requested
        self._is_started = False
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The name that calls use."""
        return self.served.name

    @property
    def index(self) -> Index:
        """The index."""
        return self.served.index

    @property
    def is_watching(self) -> bool:
        """Whether files are indexed when they change."""
        return self._engine.is_watching(self.served)

    def start(self) -> bool:
        """Start the updates on first use, or index what is not indexed; return whether that was started."""
        with self._lock:
            if not self._is_started:
                self._is_started = True
                self.is_first_build = not self.index.exists
                self.refreshed_at = time.monotonic()
                self._engine.add(self.served, self.broker)
                return True
        if self.index.exists or not self.refresh():
            return False
        self.is_first_build = True  # indexing failed before, or the index was deleted
        return True

    def refresh(self) -> bool:
        """Update the index in the background; return False if that is queued already."""
        if not self._is_started or self.index.is_shared:
            return False
        self.refreshed_at = time.monotonic()
        return self._engine.refresh(self.served)

    def close(self) -> None:
        """End all that waits for it."""
        self.broker.close()
        self.index.close()


class Repositories:
    """All repositories of a server, each opened once and under a stable name. Thread-safe."""

    def __init__(self, settings: Mapping[str, Any], *, watch: bool = False) -> None:
        self._settings = dict(settings)
        self._engine = Engine(watch=watch)
        self._by_root: dict[Path, Repository] = {}
        self._lock = threading.Lock()

    def open(self, roots: Sequence[Path]) -> list[Repository]:
        """Return the repositories of some folders."""
        return list(dict.fromkeys(self._open(root.expanduser().resolve()) for root in roots))

    def close(self) -> None:
        """Stop everything."""
        self._engine.close()
        with self._lock:
            repositories, self._by_root = list(self._by_root.values()), {}
        for repository in repositories:
            repository.close()

    def _open(self, root: Path) -> Repository:
        with self._lock:
            repository = self._by_root.get(root)
            if repository is None:
                taken = {each.name for each in self._by_root.values()}
                name = unique_name(escape_surrogates(root.name) or "root", taken)
                served = ServedIndex.create(name, Index.open(root, **self._settings))
                repository = Repository(served, self._engine)
                self._by_root[root] = repository
            return repository


def select(repositories: Sequence[Repository], wanted: str) -> list[Repository]:
    """Return the repository that a call names, by name or folder; all if it names none."""
    if not wanted:
        return list(repositories)
    named = [each for each in repositories if each.name == wanted]
    if named:
        return named
    if os.sep in wanted or wanted.startswith((".", "~")):
        return [_containing(repositories, wanted)[0]]
    raise DowseError(f"there is no repository {wanted!r} here; `repo` is one of {_names(repositories)}")


def parse_location(repositories: Sequence[Repository], target: str) -> tuple[list[Repository], str]:
    """Return the repositories that may hold what a call names, and the name as an index knows it.

    A location may have an absolute path, a range of lines (`app.py:3-9`), or `.` and `..` in its path
    (`./src/../app.py:3`); one that leads out of its repository is rejected.
    """
    location = _LOCATION.match(target.strip())
    if location is None:
        return list(repositories), target
    path, line = location["path"], location["line"]
    if Path(path).is_absolute():
        repository, real = _containing(repositories, path)
        return [repository], f"{real.relative_to(repository.index.root).as_posix()}{line}"
    normal = os.path.normpath(path)
    if normal == ".." or normal.startswith(f"..{os.sep}"):
        raise OutsideRoots(f"{path} leads out of the repository; name paths below its root, as answers do")
    return list(repositories), f"{normal.replace(os.sep, '/')}{line}"


def _containing(repositories: Sequence[Repository], path: str) -> tuple[Repository, Path]:
    """Return the innermost repository that contains a path, and the path with symbolic links resolved."""
    real = _real_path(path)
    homes = [each for each in repositories if real is not None and real.is_relative_to(each.index.root)]
    if real is None or not homes:
        raise OutsideRoots(f"{path} is outside of what may be read here; there are {_names(repositories)}")
    return max(homes, key=lambda each: len(each.index.root.parts)), real


def _real_path(path: str) -> Path | None:
    """Return a path with symbolic links resolved; None for what is no path: a null byte, an unknown home."""
    try:
        return Path(os.path.realpath(Path(path).expanduser()))
    except (ValueError, RuntimeError, OSError):
        return None


def _names(repositories: Sequence[Repository]) -> str:
    return ", ".join(f"{each.name} ({each.index.root})" for each in repositories)
