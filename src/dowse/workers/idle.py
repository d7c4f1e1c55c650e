"""Worker processes that are kept for later: starting one takes longer than most of what it is asked."""

from __future__ import annotations

import threading

from dowse.workers.supervisor import Supervisor


class IdleWorkers:
    """Some idle processes; thread-safe."""

    def __init__(self, room: int = 0, seconds: float | None = None) -> None:
        """Keep so many processes, and end all of them so many seconds after the last was used."""
        self._room, self._seconds = room, seconds
        self._workers: list[Supervisor] = []
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def change_room(self, count: int) -> None:
        """Let so many processes more be kept, or fewer, and end the others."""
        with self._lock:
            self._room += count
            workers, self._workers = self._workers[self._room :], self._workers[: self._room]
        for worker in workers:
            worker.discard()

    def take(self) -> Supervisor | None:
        """Return one of the processes, None if there is none."""
        with self._lock:
            return self._workers.pop() if self._workers else None

    def keep(self, worker: Supervisor) -> None:
        """Keep a process, or end it if there is no room."""
        with self._lock:
            has_room = len(self._workers) < self._room
            if has_room:
                self._workers.append(worker)
                self._restart_timer()
        if not has_room:
            worker.discard()

    def clear(self) -> None:
        """End all of them."""
        with self._lock:
            workers, self._workers = self._workers, []
        for worker in workers:
            worker.discard()

    def _restart_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._seconds is not None:
            self._timer = threading.Timer(self._seconds, self.clear)
            self._timer.daemon = True
            self._timer.start()
