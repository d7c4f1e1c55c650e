"""Messages to a watching process, and the commands that wait there to be answered."""

from __future__ import annotations

import contextlib
import os
import select
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dowse.config import Settings

if TYPE_CHECKING:
    from dowse.workers.child import EventReporter


class WatchJob(NamedTuple):
    """What a watching process watches: the first message it gets."""

    root: Path
    address: str
    settings: Settings
    poll: bool
    niceness: int
    lock: str  # the file of the lock that only one watcher of an index holds


class Settle(NamedTuple):
    """Ask for an answer when all that happened before is in the index."""

    number: int  # of the answer
    vectors: bool  # whether to wait for vectors too


END = "end"


class Commands:
    """Commands from another thread, answered in the order of events.

    A command that arrives during an update may be about changes that came after those of the update. So it is
    accepted only right before events are read again, and answered after those are in the index.
    """

    def __init__(self) -> None:
        self.wake, self._waker = os.pipe()
        os.set_blocking(self.wake, False)
        self._arrived: list[Settle] = []
        self._accepted: list[Settle] = []
        self.ended = False

    def settle(self, command: Settle) -> None:
        """Queue a command; thread-safe."""
        self._arrived.append(command)
        os.write(self._waker, b"s")

    def end(self) -> None:
        """Ask for the end; also from a signal handler."""
        self.ended = True
        os.write(self._waker, b"e")

    def accept(self) -> None:
        """Accept the commands that have arrived, and clear the wake-up pipe; read events after this."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.wake, 4096)
        count = len(self._arrived)
        self._accepted += self._arrived[:count]
        del self._arrived[:count]

    def __bool__(self) -> bool:
        return bool(self._accepted)

    @property
    def has_urgent(self) -> bool:
        """Whether a command waits that does not wait for vectors."""
        return any(not command.vectors for command in (*self._arrived, *self._accepted))

    def take(self, *, vectors: bool) -> list[int]:
        """Remove the commands that can be answered now and return their numbers.

        Args:
            vectors: Whether all vectors are there; else only commands that want words alone are answered.
        """
        ready = [command.number for command in self._accepted if vectors or not command.vectors]
        self._accepted = [command for command in self._accepted if command.number not in ready]
        return ready

    def fail_for(self, seconds: float, reporter: EventReporter) -> None:
        """Wait so long, or until the end is asked for; commands that arrive meanwhile fail."""
        until = time.monotonic() + seconds
        while not self.ended and (left := until - time.monotonic()) > 0:
            self.accept()
            for number in self.take(vectors=True):
                reporter.event("settled", number=number, failed=True)
            select.select([self.wake], [], [], left)
