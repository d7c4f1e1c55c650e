"""A real watcher over a real folder, and what it said."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from dowse import Index
from dowse.errors import DowseError
from dowse.watch import Maintainer, WatchEvent

# Far above what anything here takes, also where many tests run at once.
DEADLINE = 60.0


class Heard:
    """Events, in the order they came; one can wait for the next."""

    def __init__(self) -> None:
        self.events: list[WatchEvent] = []
        self._changed = threading.Condition()

    def __call__(self, event: WatchEvent) -> None:
        """Take in an event."""
        with self._changed:
            self.events.append(event)
            self._changed.notify_all()

    def wait(self, kind: str, after: int = 0) -> WatchEvent:
        """Return the first event of a kind that came after so many."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.of(kind, after), DEADLINE), self.events
            return self.of(kind, after)[0]

    def of(self, kind: str, after: int = 0) -> list[WatchEvent]:
        """Return the events of a kind."""
        return [event for event in self.events[after:] if event.kind == kind]

    def kinds(self, after: int = 0) -> list[str]:
        """Return what happened after so many events, without how far it was."""
        return [event.kind for event in self.events[after:] if event.kind not in ("index", "embed")]


class Watcher:
    """A maintainer of one index."""

    def __init__(self, index: Index, heard: Heard, **options: object) -> None:
        self._index, self._maintainer = index, Maintainer(heard, **options)  # type: ignore[arg-type]
        self._maintainer.request(index, "watch")

    @property
    def pid(self) -> int | None:
        """The process that does the work."""
        return self._maintainer.pid

    @property
    def is_watching(self) -> bool:
        """Whether it sees changes."""
        return self._maintainer.is_watching(self._index)

    @property
    def has_settled(self) -> bool:
        """Whether all that was saved can be searched, by words and by meaning."""
        if not self.is_watching or not self._index.exists:
            return False
        try:
            return (
                not self._index.internals.as_built().contents.changes(exact=True).count
                and not self._index.vectors.missing()
            )
        except DowseError:  # it is being replaced
            return False

    def stop(self) -> None:
        """End it."""
        self._maintainer.close()


@contextlib.contextmanager
def watching(index: Index, **options: object) -> Iterator[tuple[Watcher, Heard]]:
    """Watch an index, and wait until changes are seen."""
    heard = Heard()
    watcher = Watcher(index, heard, **{"niceness": 0, **options})
    try:
        heard.wait("watching")
        yield watcher, heard
    finally:
        watcher.stop()
    assert heard.events[-1].kind == "stopped"


def settle(watcher: Watcher) -> None:
    """Wait until all that was done before is in the index, vectors included."""
    until(lambda: watcher.has_settled)


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that nobody tells."""
    end = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < end
        threading.Event().wait(0.01)


def names(index: Index, pattern: str) -> list[str]:
    """Return the symbols of a name."""
    return sorted(row.name for row in index.symbols(pattern))


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
