"""`serve --watch`: the indexes of a server follow their files, and everybody who listens hears of it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from dowse.errors import DowseError
from dowse.services.events import Hub
from dowse.services.indexes import ServedIndex, ServedIndexes
from dowse.watch import Watcher, WatchEvent

_JOIN_SECONDS = 5.0


class Watching:
    """A watcher for every index that can have one."""

    def __init__(self, places: ServedIndexes, hub: Hub, get_ready: Callable[[ServedIndex], None]) -> None:
        self._hub, self._get_ready = hub, get_ready
        self._stale: queue.SimpleQueue[ServedIndex | None] = queue.SimpleQueue()
        self._watchers: dict[str, Watcher] = {}
        for place in places:
            try:
                self._watchers[place.name] = Watcher(place.index, self._hearer(place))
            except DowseError:  # a corpus, or what many share: those are looked after as without
                continue
        self._thread = threading.Thread(target=self._refresh, name="dowse-watching", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()
        for watcher in self._watchers.values():
            watcher.start()

    def has(self, place: ServedIndex) -> bool:
        """Whether an index has a watcher, which builds it too."""
        return place.name in self._watchers

    def sees(self, place: ServedIndex) -> bool:
        """Whether changes of an index are seen now, so that none need be looked for."""
        watcher = self._watchers.get(place.name)
        return watcher is not None and watcher.is_watching

    def watchers(self) -> list[Watcher]:
        """Return all of them."""
        return list(self._watchers.values())

    def close(self) -> None:
        """Stop watching."""
        for watcher in self._watchers.values():
            watcher.stop()
        self._stale.put(None)
        if self._thread.is_alive():
            self._thread.join(_JOIN_SECONDS)

    def _hearer(self, place: ServedIndex) -> Callable[[WatchEvent], None]:
        def hear(event: WatchEvent) -> None:
            if event.kind in ("index", "embed", "waiting", "failed"):
                self._hub.tell(place.name, event.kind, event.done, event.total, event.detail)
            elif event.kind == "indexed":
                said = f"{event.added:,} added, {event.changed:,} changed, {event.deleted:,} deleted"
                self._hub.tell(place.name, "done", detail=said)
                self._stale.put(place)
            elif event.kind == "embedded":
                self._hub.tell(place.name, "done", detail=f"{event.done:,} embedded")

        return hear

    def _refresh(self) -> None:
        """Read again what is remembered of an index, apart from the thread that hears of changes."""
        while (place := self._stale.get()) is not None:
            self._get_ready(place)
