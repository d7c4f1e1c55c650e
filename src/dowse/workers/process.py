"""One worker process, seen by its parent: start it, exchange messages with it, end it.

Workers never outlive this process: they are killed when it exits, see the end of their input when it is
killed, and a forked copy of it lets go of them.
"""

from __future__ import annotations

import atexit
import contextlib
import enum
import os
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, NamedTuple, cast

from dowse.workers.child import READY
from dowse.workers.frames import MAX_BYTES, FrameReader, pack, write_frame

# How long to wait for a process that was killed; one that hangs in the kernel goes when that lets it.
_END_SECONDS = 2.0
# The worker's own timer should go off first: its signal tells what happened.
_LAG = 0.1
_HAS_POLL = hasattr(select, "poll")


class Cause(enum.Enum):
    """Why a worker is gone."""

    WALL_TIME = "hung, and was ended by its timer"
    CPU_TIME = "took too much CPU time"
    DEADLINE = "hung, and was ended"
    CRASH = "ended unexpectedly"
    PROTOCOL = "sent what can't be used"
    NOT_STARTED = "could not start"
    STOPPED = "was stopped"
    UNKNOWN = "stopped talking"


class WorkerDied(Exception):
    """The worker process is gone, or could not be started."""

    def __init__(self, cause: Cause, detail: str = "") -> None:
        super().__init__(cause.value + (f" ({detail})" if detail else ""))
        self.cause, self.detail = cause, detail


class WorkerOptions(NamedTuple):
    """How a worker process is started."""

    program: str
    max_bytes: int = MAX_BYTES  # of a message in either direction
    own_group: bool = False  # a session of its own, to be killed with all that it starts
    quiet: bool = False  # standard error is read until the worker is ready, and then closed
    environment: Mapping[str, str] | None = None


def worker_program(module: str) -> str:
    """Return the Python program that runs `main` of a module, found on the search path of this process."""
    return f"import sys; sys.path[:] = {sys.path!r}\nfrom {module} import main; main()"


class WorkerProcess:
    """A child process that talks in frames; one thread receives, any thread may send or kill."""

    def __init__(self, options: WorkerOptions, setup: object) -> None:
        """Start the process; `setup` is the first message it gets."""
        frame = pack(setup, options.max_bytes)
        if _is_exiting:
            raise WorkerDied(Cause.STOPPED)
        try:
            with _interrupts_blocked():
                # Unbuffered, for most messages are one system call.
                self._process = subprocess.Popen(
                    [sys.executable, "-c", options.program],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE if options.quiet else None,
                    bufsize=0,
                    start_new_session=options.own_group,
                    env=options.environment,
                )
        except OSError as error:  # no memory, no more processes
            raise WorkerDied(Cause.NOT_STARTED, str(error.strerror)) from error
        self._options = options
        self._stdin = cast("IO[bytes]", self._process.stdin)
        self._stdout = cast("IO[bytes]", self._process.stdout)
        self._reader = FrameReader(self._stdout.fileno(), options.max_bytes)
        self._writing = threading.Lock()
        self.is_ready = False
        if _HAS_POLL:
            os.set_blocking(self._stdin.fileno(), False)
        _live.add(self)
        with contextlib.suppress(WorkerDied):  # then it is never ready
            self.send(frame)

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def wait_until_ready(self, seconds: float | None = None) -> None:
        """Wait until everything is loaded."""
        try:
            if self.receive(seconds) != READY:
                self.end()
                raise WorkerDied(Cause.PROTOCOL, "it did not say that it is ready")
        except WorkerDied:
            if self._process.stderr is None:
                raise
            self.end()
            complaint = self._process.stderr.read().decode(errors="replace").strip()
            raise WorkerDied(Cause.NOT_STARTED, complaint.rpartition("\n")[2]) from None
        if self._process.stderr is not None:
            self._process.stderr.close()  # why it dies later is known from its exit code
        self.is_ready = True

    def send(self, frame: bytes) -> None:
        """Send a packed message, however long that takes."""
        with self._failures_as_death(None), self._writing:
            handle = self._stdin.fileno()
            write_frame(handle, frame, _waiter(handle, "write", None))

    def receive(self, seconds: float | None = None) -> Any:  # noqa: ANN401 - any message
        """Return the next message; a process that takes longer than that is ended."""
        with self._failures_as_death(seconds), self._deadline(seconds) as until:
            return self._reader.read(_waiter(self._stdout.fileno(), "read", until))

    def exchange(self, frame: bytes, seconds: float) -> Any:  # noqa: ANN401 - any message
        """Send a packed message and return the next; a process that takes longer than that is ended."""
        with self._failures_as_death(seconds), self._deadline(seconds) as until:
            with self._writing:
                write_frame(self._stdin.fileno(), frame, _waiter(self._stdin.fileno(), "write", until))
            return self._reader.read(_waiter(self._stdout.fileno(), "read", until))

    def messages(self) -> Iterator[Any]:
        """Give the messages of a process until it ends."""
        with contextlib.suppress(WorkerDied):
            while True:
                yield self.receive()

    def kill(self) -> None:
        """Kill the process at once, whatever it is doing."""
        with contextlib.suppress(OSError):
            if self._options.own_group and hasattr(os, "killpg") and self.is_alive():
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def end(self) -> None:
        """Kill the process and wait until it is gone."""
        self.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)

    def close(self) -> None:
        """End the process and close the pipes; only for the thread that receives."""
        self.end()
        with self._writing:
            self._close_pipes()

    def death(self) -> WorkerDied:
        """Return why the process ended, once its pipes have."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        code = self._process.returncode
        if code is None:
            return WorkerDied(Cause.UNKNOWN)
        if code == -getattr(signal, "SIGALRM", 0):
            return WorkerDied(Cause.WALL_TIME)
        if code == -getattr(signal, "SIGPROF", 0):
            return WorkerDied(Cause.CPU_TIME)
        return WorkerDied(Cause.CRASH, signal.Signals(-code).name if code < 0 else f"exit code {code}")

    def disown(self) -> None:
        """Let go of the process: in a forked process it is the parent's, and must see when that is gone."""
        if self._process.returncode is None:
            self._process.returncode = 0  # nothing to wait for here
        self._close_pipes()

    def _close_pipes(self) -> None:
        for pipe in (self._stdin, self._stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()

    @contextlib.contextmanager
    def _failures_as_death(self, seconds: float | None) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            self.end()
            raise WorkerDied(Cause.DEADLINE, f"after {seconds:.3g} s") from None
        except ValueError as error:
            self.end()
            raise WorkerDied(Cause.PROTOCOL, str(error)) from None
        except (OSError, EOFError):
            raise self.death() from None

    @contextlib.contextmanager
    def _deadline(self, seconds: float | None) -> Iterator[float | None]:
        """Give the time at which the process is ended; where pipes can't be waited for, a timer does that."""
        if seconds is None:
            yield None
            return
        if _HAS_POLL:
            yield time.monotonic() + seconds + _LAG
            return
        # Windows: reads and writes end with the process.
        timer = threading.Timer(seconds + _LAG, self._process.kill)
        timer.daemon = True
        timer.start()
        try:
            yield None
        finally:
            timer.cancel()


def _waiter(handle: int, event: str, until: float | None) -> Callable[[], None]:
    """Return a function that waits for a pipe to be ready; it raises TimeoutError after the deadline."""
    if not _HAS_POLL:
        return lambda: None
    poll = select.poll()
    poll.register(handle, select.POLLIN if event == "read" else select.POLLOUT)

    def wait() -> None:
        left = None if until is None else max(0.0, until - time.monotonic()) * 1000
        if not poll.poll(left):
            raise TimeoutError

    return wait


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Let a process that is started here inherit a blocked SIGINT: Ctrl-C is its parent's to handle."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# All that are not closed yet: killed when this process exits, left alone by a forked one.
_live: weakref.WeakSet[WorkerProcess] = weakref.WeakSet()
_is_exiting = False


def _kill_all() -> None:
    """Kill the workers and let the system reap them: a command does not wait for that."""
    global _is_exiting
    _is_exiting = True
    for process in list(_live):
        process.kill()


def _disown_all() -> None:
    for process in list(_live):
        process.disown()
    _live.clear()


atexit.register(_kill_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_all)
