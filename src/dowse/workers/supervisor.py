"""A worker process that is there when it is needed: started on demand, replaced after its death."""

from __future__ import annotations

import threading
import time

from dowse.workers.frames import pack
from dowse.workers.process import Cause, WorkerDied, WorkerOptions, WorkerProcess


class CircuitBreaker:
    """Refuses to start processes for a while after several deaths in a row; thread-safe.

    After that time one more is tried: if it dies too, the breaker opens again, for twice as long each time
    up to `max_open_seconds`.
    """

    def __init__(self, max_deaths: int, open_seconds: float, max_open_seconds: float = 0.0) -> None:
        self._max_deaths, self._open_seconds = max_deaths, open_seconds
        self._max_open_seconds = max(open_seconds, max_open_seconds)
        self._deaths = 0  # since the last success
        self._open_until = 0.0

    def record_success(self) -> None:
        """Count from the start again."""
        self._deaths = 0

    def record_death(self) -> None:
        """Count a death; open if there were too many."""
        self._deaths += 1
        excess = self._deaths - self._max_deaths
        if excess >= 0:
            seconds = min(self._open_seconds * 2 ** min(excess, 30), self._max_open_seconds)
            self._open_until = time.monotonic() + seconds

    @property
    def remaining_seconds(self) -> float:
        """How long it stays open; 0 if it is closed."""
        return max(0.0, self._open_until - time.monotonic())

    @property
    def is_open(self) -> bool:
        """Whether no process may be started."""
        return self.remaining_seconds > 0


class Supervisor:
    """Keeps one worker process. One thread talks to it; any thread may `send`, `stop` or ask for its id."""

    def __init__(self, options: WorkerOptions, start_seconds: float | None = None) -> None:
        self.options, self._start_seconds = options, start_seconds
        self._process: WorkerProcess | None = None
        self._lock = threading.Lock()
        self._is_stopped = False

    @property
    def pid(self) -> int | None:
        """The id of the process, if there is one."""
        process = self._process
        return process.pid if process is not None and process.is_alive() else None

    @property
    def is_ready(self) -> bool:
        """Whether there is a process that has loaded everything."""
        process = self._process
        return process is not None and process.is_ready

    def ensure_process(self, setup: object) -> WorkerProcess:
        """Return a process that is ready; a new one if there is none, or it was killed when idle."""
        process = self._process
        if process is not None and process.is_alive():
            return process
        self.discard()
        process = WorkerProcess(self.options, setup)
        with self._lock:
            self._process = process
            if self._is_stopped:
                process.kill()
                raise WorkerDied(Cause.STOPPED)
        process.wait_until_ready(self._start_seconds)
        return process

    def send(self, message: object) -> bool:
        """Send a message to the process; False if there is none."""
        process = self._process
        if process is None:
            return False
        try:
            process.send(pack(message))
        except WorkerDied:
            return False
        return True

    def discard(self) -> None:
        """End the process, if there is one; the next request gets a new one."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.close()

    def kill(self) -> None:
        """Kill the process at once, if there is one."""
        process = self._process
        if process is not None:
            process.kill()

    def stop(self) -> None:
        """Kill the process and start no other."""
        with self._lock:
            self._is_stopped = True
            self.kill()
