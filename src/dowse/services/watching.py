"""`serve --watch`: the indexes of a server are kept up to date by watchers, whose events are published."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from functools import partial

from dowse.errors import DowseError
from dowse.services.events import EventBroker
from dowse.services.indexes import ServedIndex, ServedIndexes
from dowse.watch import Watcher, WatchEvent

_JOIN_SECONDS = 5.0


class IndexWatchers:
    """A watcher for every index that can have one."""

    def __init__(
        self, places: ServedIndexes, broker: EventBroker, warm_up: Callable[[ServedIndex], None]
    ) -> None:
        self._broker, self._warm_up = broker, warm_up
        self._updated: queue.SimpleQueue[ServedIndex | None] = queue.SimpleQueue()
        self._watchers: dict[str, Watcher] = {}
        for place in places:
            try:
                self._watchers[place.name] = Watcher(place.index, partial(self._handle, place))
            except DowseError:  # a corpus or a shared index: those are refreshed as without watchers
                continue
        self._thread = threading.Thread(target=self._warm_up_updated, name="dowse-watching", daemon=True)

    def __iter__(self) -> Iterator[Watcher]:
        return iter(self._watchers.values())

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()
        for watcher in self:
            watcher.start()

    def has(self, place: ServedIndex) -> bool:
        """Whether an index has a watcher, which builds it too."""
        return place.name in self._watchers

    def is_watching(self, place: ServedIndex) -> bool:
        """Whether changes of an index are seen now, so that no search has to look for them."""
        watcher = self._watchers.get(place.name)
        return watcher is not None and watcher.is_watching

    def close(self) -> None:
        """Stop watching."""
        for watcher in self:
            watcher.stop()
        self._updated.put(None)
        if self._thread.is_alive():
            self._thread.join(_JOIN_SECONDS)

    def _handle(self, place: ServedIndex, event: WatchEvent) -> None:
        if event.kind in ("index", "embed", "waiting", "failed"):
            self._broker.publish(place.name, event.kind, event.done, event.total, event.detail)
        elif event.kind == "indexed":
            counts = f"{event.added:,} added, {event.changed:,} changed, {event.deleted:,} deleted"
            self._broker.publish(place.name, "done", detail=counts)
            self._updated.put(place)
        elif event.kind == "embedded":
            self._broker.publish(place.name, "done", detail=f"{event.done:,} embedded")

    def _warm_up_updated(self) -> None:
        """Warm up each index after an update, in a thread of its own: the watcher's must be quick."""
        while (place := self._updated.get()) is not None:
            self._warm_up(place)
