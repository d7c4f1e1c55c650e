"""The child's side of a worker process: a private channel, signals, time limits, and the end with its parent.

Light to load: workers that answer one kind of request start in milliseconds.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from dowse.workers.frames import MAX_BYTES, FrameReader, pack, write_frame

# The first message of every child: from here on, a death is the fault of the request at hand.
READY = "ready"
# Niceness of what runs only while nothing else wants to, on systems that have such a class.
IDLE = 15
# Progress is reported at most so often.
_PROGRESS_SECONDS = 0.1


class Channel:
    """The pipes to the parent process; any thread may send."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        """Take over standard input and output; other readers get nothing, other output goes to stderr."""
        reading, self._writing = os.dup(0), os.dup(1)
        self._reader, self._max_bytes = FrameReader(reading, max_bytes), max_bytes
        self._lock = threading.Lock()
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        try:
            os.dup2(2, 1)
        except OSError:  # there is no standard error
            os.dup2(0, 1)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
        if hasattr(signal, "setitimer"):
            for timer_signal in (signal.SIGALRM, signal.SIGPROF):
                signal.signal(timer_signal, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM, signal.SIGPROF])

    def receive(self) -> Any:  # noqa: ANN401 - any message
        """Wait for the next message; raises EOFError when the parent has closed the pipe or is gone."""
        return self._reader.read()

    def receive_bytes(self, size: int) -> bytearray:
        """Wait for so many bytes that follow a message."""
        return self._reader.read_bytes(size)

    def send(self, message: object) -> None:
        """Send one message."""
        self.send_frame(pack(message, self._max_bytes))

    def send_frame(self, frame: bytes) -> None:
        """Send a message that is packed already."""
        with self._lock:
            write_frame(self._writing, frame)


@contextlib.contextmanager
def time_limit(wall_seconds: float, cpu_seconds: float = 0.0) -> Iterator[None]:
    """Let the system end this process if the block takes longer; 0 CPU seconds for no limit of these.

    The timer signals keep their default action, so they end the process even while native code holds the
    interpreter's lock. Windows has no such timers: there the parent's deadline has to do.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, max(wall_seconds, 0.001))
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def limit_memory(size: int) -> None:
    """Limit the memory of this process to so many bytes, where the system can do that (Linux)."""
    if sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if hard == resource.RLIM_INFINITY or hard > size:
            resource.setrlimit(resource.RLIMIT_DATA, (size, hard))


def handle_messages(channel: Channel, handle: Callable[[Any], None] = lambda _: None) -> None:
    """Handle messages in a thread; when the parent is gone, kill this process and all that it started."""

    def listen() -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                handle(channel.receive())
        if hasattr(os, "killpg"):
            os.killpg(os.getpgrp(), signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=listen, daemon=True).start()


class Progress(Protocol):
    """How much of a task is done."""

    @property
    def done(self) -> int: ...  # noqa: D102
    @property
    def total(self) -> int: ...  # noqa: D102


class EventReporter:
    """Sends events to the parent, each as a dictionary with a `kind`; progress not too often."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._last_progress = 0.0

    def event(self, kind: str, **fields: object) -> None:
        """Report one event."""
        with contextlib.suppress(BrokenPipeError):
            self._channel.send({"kind": kind, **fields})

    def progress(self, kind: str, **fields: object) -> Callable[[Progress], None]:
        """Return a function that reports how much is done; the last step always."""

        def report(progress: Progress) -> None:
            now = time.monotonic()
            if progress.done == progress.total or now - self._last_progress >= _PROGRESS_SECONDS:
                self._last_progress = now
                self.event(kind, done=progress.done, total=progress.total, **fields)

        return report


def lower_priority(niceness: int) -> None:
    """Let other processes come first, where the system can do that; from `IDLE` on, all of them."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(niceness)
    with contextlib.suppress(OSError, AttributeError):
        if niceness >= IDLE:
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
