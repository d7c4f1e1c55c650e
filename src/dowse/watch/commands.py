"""What a watching process is asked while it works: to say when it has caught up, and to end."""

from __future__ import annotations

import contextlib
import os


class Requests:
    """Questions from another thread, answered in the order of events.

    A question that comes while changes are being taken in may be about changes that came after those. So it
    waits at the door until news are read again: only what was admitted before that is answered after it.
    """

    def __init__(self) -> None:
        self.wake, self._tell = os.pipe()
        os.set_blocking(self.wake, False)
        self._door: list[tuple[int, bool]] = []
        self._admitted: list[tuple[int, bool]] = []
        self.ended = False

    def settle(self, number: int, meaning: bool) -> None:
        """Ask to be told when all that happened before is in the index; any thread may."""
        self._door.append((number, meaning))
        os.write(self._tell, b"s")

    def end(self) -> None:
        """Ask for the end; also from a signal's handler."""
        self.ended = True
        os.write(self._tell, b"e")

    def admit(self) -> None:
        """Take in those who wait, and note that whatever woke us is seen; read news after this."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.wake, 4096)
        count = len(self._door)
        self._admitted += self._door[:count]
        del self._door[:count]

    def __bool__(self) -> bool:
        return bool(self._admitted)

    @property
    def in_a_hurry(self) -> bool:
        """Whether somebody waits who does not wait for vectors anyway."""
        return any(not meaning for _, meaning in (*self._door, *self._admitted))

    def answered(self, meaning: bool) -> list[int]:
        """Take those that can be answered now: who wants words alone, or all."""
        ready = [number for number, wants_meaning in self._admitted if meaning or not wants_meaning]
        self._admitted = [each for each in self._admitted if each[0] not in ready]
        return ready
