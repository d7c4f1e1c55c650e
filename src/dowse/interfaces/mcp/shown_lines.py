"""Lines that a conversation has been shown: `explore` leaves them out of later answers."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence

Line = tuple[int, str]  # its number in the file, and its text
# Lines of one conversation, some 600,000 tokens: a model has forgotten the oldest by then.
_MAX_LINES = 50_000
# Conversations of a server over HTTP.
_MAX_SESSIONS = 200


class ShownLines:
    """The lines of one conversation, the oldest forgotten first. Thread-safe.

    A line is known by its file, number and text: one that was edited since is shown again.
    """

    def __init__(self, limit: int = _MAX_LINES) -> None:
        self._limit = limit
        self._hashes: OrderedDict[int, None] = OrderedDict()
        self._lock = threading.Lock()

    def unseen(self, file: Sequence[str], lines: Iterable[Line]) -> list[Line]:
        """Return the lines of a file that were not shown."""
        with self._lock:
            return [line for line in lines if hash((*file, *line)) not in self._hashes]

    def add(self, file: Sequence[str], lines: Iterable[Line]) -> None:
        """Remember lines of a file."""
        with self._lock:
            for line in lines:
                key = hash((*file, *line))
                self._hashes[key] = None
                self._hashes.move_to_end(key)
            while len(self._hashes) > self._limit:
                self._hashes.popitem(last=False)


class Conversations:
    """The shown lines of each session of a server, by its id; the least recent session is forgotten first."""

    def __init__(self, limit: int = _MAX_SESSIONS) -> None:
        self._limit = limit
        self._sessions: OrderedDict[str, ShownLines] = OrderedDict()

    def get(self, session: str) -> ShownLines:
        """Return the lines of a session."""
        shown = self._sessions.setdefault(session, ShownLines())
        self._sessions.move_to_end(session)
        while len(self._sessions) > self._limit:
            self._sessions.popitem(last=False)
        return shown
