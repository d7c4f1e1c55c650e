"""One worker process, seen from outside: start it, ask it, end it; no call takes longer than it may."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import IO, Any, cast

from dowse.search.lanes.frames import pack, receive, send
from dowse.search.lanes.worker import GRACE_SECONDS, READY, START_SECONDS, Question, Reply, Task

# The worker's own timer should go off first: its signal tells what happened.
_LAG = 0.1
# How long to wait for a process that was killed; one that hangs in the kernel goes when that lets it.
_END_SECONDS = 2.0
_HAS_POLL = hasattr(select, "poll")


class WorkerEnded(Exception):
    """The process is gone; the message says why, in words."""


class WorkerProcess:
    """A process that runs one lane; used by one thread, and ended by any."""

    def __init__(self, task: Task) -> None:
        try:
            # Unbuffered, for every message is one system call; errors go where ours go.
            self._process = subprocess.Popen(
                [sys.executable, "-c", _program()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
            )
        except OSError as error:  # no memory, no more processes
            raise WorkerEnded(f"could not start: {error.strerror}") from error
        self._stdin = cast("IO[bytes]", self._process.stdin)
        self._stdout = cast("IO[bytes]", self._process.stdout)
        if _HAS_POLL:
            os.set_blocking(self._stdin.fileno(), False)
        self._task = task
        self.ready = False

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def get_ready(self) -> None:
        """Tell it what it is for and wait until everything is loaded."""
        if self._exchange(pack(self._task), START_SECONDS) != READY:
            raise WorkerEnded("did not start as it should")
        self.ready = True

    def ask(self, question: Question) -> Reply:
        """Wait for its reply, a little longer than somebody wants it."""
        reply = self._exchange(pack(question), question.seconds + GRACE_SECONDS)
        if not isinstance(reply, Reply):
            self.end()
            raise WorkerEnded("gave no proper answer")
        return reply

    def is_alive(self) -> bool:
        """Whether the process is there."""
        return self._process.poll() is None

    def kill(self) -> None:
        """Have it ended at once, whatever it is doing; any thread may ask for that."""
        with contextlib.suppress(OSError):
            self._process.kill()

    def end(self) -> None:
        """End it and wait until it is gone."""
        self.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)

    def close(self) -> None:
        """End it and let go of the pipes; only for the thread that asks."""
        self.end()
        self._close_pipes()

    def disown(self) -> None:
        """Let go of it: in a forked process it is the parent's, and must see when that is gone."""
        if self._process.returncode is None:
            self._process.returncode = 0  # nothing to wait for here
        self._close_pipes()

    def _close_pipes(self) -> None:
        for pipe in (self._stdin, self._stdout):
            with contextlib.suppress(OSError):
                pipe.close()

    def _exchange(self, frame: bytes, seconds: float) -> Any:  # noqa: ANN401 - any message
        """Send one message and return the next; a process that takes too long is ended."""
        try:
            with self._deadline(seconds + _LAG) as (may_write, may_read):
                send(self._stdin.fileno(), frame, may_write)
                return receive(self._stdout.fileno(), may_read)
        except TimeoutError:
            self.end()
            raise WorkerEnded(f"hung, and was ended after {seconds:.3g} s") from None
        except ValueError as error:
            self.end()
            raise WorkerEnded(f"sent what can't be used ({error})") from None
        except (OSError, EOFError):
            raise WorkerEnded(self._epitaph()) from None

    @contextlib.contextmanager
    def _deadline(self, seconds: float) -> Iterator[tuple[Callable[[], None], Callable[[], None]]]:
        """Give what waits for room to write and for data to read, until the time is up."""
        if _HAS_POLL:
            until = time.monotonic() + seconds
            yield (
                _waiter(self._stdin.fileno(), select.POLLOUT, until),
                _waiter(self._stdout.fileno(), select.POLLIN, until),
            )
            return
        # Pipes can't be waited for on Windows: reads and writes end with the process.
        timer = threading.Timer(seconds, self._process.kill)
        timer.daemon = True
        timer.start()
        try:
            yield (lambda: None), (lambda: None)
        finally:
            timer.cancel()

    def _epitaph(self) -> str:
        """Say in words why it ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        code = self._process.returncode
        if code is None:
            return "stopped talking"
        if code == -getattr(signal, "SIGALRM", 0):
            return "hung, and was ended by its timer"
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return f"ended unexpectedly ({name})"


def _program() -> str:
    """Return the Python program of a worker."""
    # The parent's own search path, so that the child finds the very same packages.
    return f"import sys; sys.path[:] = {sys.path!r}\nfrom dowse.search.lanes.worker import main; main()"


def _waiter(handle: int, event: int, until: float) -> Callable[[], None]:
    poll = select.poll()
    poll.register(handle, event)

    def wait() -> None:
        if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
            raise TimeoutError

    return wait
