"""A supervised worker process: started on demand, replaced after its death, killed at its deadline.

Workers never outlive this process: they are killed when it exits, see the end of their input when it is
killed, and a forked copy of it lets go of them.
"""

from __future__ import annotations

import atexit
import contextlib
import enum
import math
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dowse.workers.child import READY
from dowse.workers.frames import MAX_BYTES, FrameReader, load_data, pack, write_frame

# How long to wait for a process that was killed; one that hangs in the kernel goes when that lets it.
_END_SECONDS = 2.0
# The worker's own timer should go off first: its signal tells what happened.
_LAG = 0.1
# How often it is asked whether somebody still waits for an answer.
_CHECK_SECONDS = 0.05
_HAS_POLL = hasattr(select, "poll")
# Raises if nobody waits for an answer any more.
Check = Callable[[], None] | None


class Cause(enum.Enum):
    """Why a worker is gone."""

    WALL_TIME = "hung, and was ended by its timer"
    CPU_TIME = "took too much CPU time"
    DEADLINE = "hung, and was ended"
    CRASH = "ended unexpectedly"
    PROTOCOL = "sent what can't be used"
    NOT_STARTED = "could not start"
    STOPPED = "was stopped"


class WorkerDied(Exception):
    """The worker process is gone, or could not be started."""

    def __init__(self, cause: Cause, detail: str = "") -> None:
        super().__init__(cause.value + (f" ({detail})" if detail else ""))
        self.cause, self.detail = cause, detail


class Supervisor:
    """Keeps one worker process. One thread talks to it; any thread may `send` a message or `stop` it."""

    def __init__(
        self,
        program: str,
        *,
        max_bytes: int = MAX_BYTES,
        start_seconds: float | None = None,
        own_group: bool = False,
        quiet: bool = False,
        environment: Mapping[str, str] | None = None,
        is_confined: bool = False,
    ) -> None:
        """Prepare a process; nothing runs before `start`.

        Args:
            program: The Python program, as `worker_program` makes it.
            max_bytes: Size of a message in either direction.
            start_seconds: How long it may take until the process is ready.
            own_group: Whether it gets a session of its own, and is killed with all that it starts.
            quiet: Whether standard error is read until the process is ready, and then closed.
            environment: Its environment, if not that of this process.
            is_confined: Whether it reads hostile bytes (`workers.sandbox`), so its messages are not trusted.
        """
        self.program = program
        self.setup: object = None  # the first message of the process
        self._max_bytes, self._start_seconds = max_bytes, start_seconds
        self._own_group, self._quiet, self._environment = own_group, quiet, environment
        self._load = load_data if is_confined else pickle.loads
        self._process: subprocess.Popen[bytes] | None = None
        self._stdin = self._stdout = -1
        self._reader: FrameReader | None = None
        self._writing = threading.Lock()
        self._is_stopped = False
        self.is_ready = False  # whether there is a process that has loaded everything
        _supervisors.add(self)

    @property
    def pid(self) -> int | None:
        """The id of the process, if it runs."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def start(self, setup: object, seconds: float | None = None, check: Check = None) -> None:
        """Start the process, unless it runs, and wait until it is ready; `setup` is its first message.

        Here `start_seconds` can be less, and `check` is called meanwhile, as by `exchange`.
        """
        if self.pid is not None:
            return
        self.discard()
        self.setup = setup
        frame = pack(setup, self._max_bytes)
        process = self._launch()
        try:  # no other thread sends yet
            write_frame(self._stdin, frame, _waiter(self._stdin, "write"))
        except OSError:  # it died, or has half a message: the next read notices its end
            self._kill(process)
        self._process = process
        if self._is_stopped:
            self.discard()
            raise WorkerDied(Cause.STOPPED)
        self._wait_until_ready(process, self._start_seconds if seconds is None else seconds, check)

    def send(self, message: object) -> bool:
        """Send a message, however long that takes; False if there is no process."""
        frame = pack(message, self._max_bytes)
        with self._writing:
            process = self._process
            if process is None:
                return False
            try:
                write_frame(self._stdin, frame, _waiter(self._stdin, "write"))
            except OSError:  # it is gone, or would wait for the rest of a message for ever
                self._kill(process)
                return False
        return True

    def receive(self, seconds: float | None = None) -> Any:  # noqa: ANN401 - any message
        """Return the next message; a process that takes longer than that is killed."""
        return self._exchange(b"", seconds)

    def exchange(
        self, message: object, seconds: float, check: Check = None, data: bytes | memoryview = b""
    ) -> Any:  # noqa: ANN401 - any message
        """Send a message and return the next; a process that takes longer than that is killed.

        `check` is called meanwhile, and raises if nobody waits for the answer: then `discard` the process.
        Large `data` follows the message as it is: to copy it, other threads would have to wait.
        """
        return self._exchange(pack(message, self._max_bytes), seconds, check, data)

    def messages(self) -> Iterator[Any]:
        """Give the messages of the process until it ends."""
        with contextlib.suppress(WorkerDied):
            while True:
                yield self.receive()

    def discard(self) -> None:
        """Kill the process, if there is one, and close its pipes; only for the thread that talks to it."""
        process, self._process, self.is_ready = self._process, None, False
        if process is not None:
            self._end(process)
            with self._writing:
                _close_pipes(process)

    def stop(self) -> None:
        """Kill the process at once, whatever it is doing, and start no other."""
        self._is_stopped = True  # before the process is read: `start` sets that first
        if self._process is not None:
            self._kill(self._process)

    def disown(self) -> None:
        """Let go of the process: in a forked process it is the parent's, and must see when that is gone."""
        process, self._process, self.is_ready = self._process, None, False
        self._writing = threading.Lock()  # a thread that is not here may have held the old one
        if process is not None:
            if process.returncode is None:
                process.returncode = 0  # nothing to wait for here
            _close_pipes(process)

    def _launch(self) -> subprocess.Popen[bytes]:
        try:
            with _interrupts_blocked():
                # Unbuffered, for most messages are one system call.
                process = subprocess.Popen(
                    [sys.executable, "-c", self.program],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE if self._quiet else None,
                    bufsize=0,
                    start_new_session=self._own_group,
                    env=self._environment,
                )
        except OSError as error:  # no memory, no more processes
            raise WorkerDied(Cause.NOT_STARTED, str(error.strerror)) from error
        assert process.stdin is not None and process.stdout is not None  # noqa: S101 - pipes, see above
        self._stdin, self._stdout = process.stdin.fileno(), process.stdout.fileno()
        self._reader = FrameReader(self._stdout, self._max_bytes, self._load)
        if _HAS_POLL:
            os.set_blocking(self._stdin, False)
        return process

    def _wait_until_ready(
        self, process: subprocess.Popen[bytes], seconds: float | None, check: Check
    ) -> None:
        try:
            if self._exchange(b"", seconds, check) != READY:
                raise WorkerDied(Cause.PROTOCOL, "it did not say that it is ready")
        except WorkerDied:
            if process.stderr is None:
                raise
            self._end(process)
            complaint = process.stderr.read().decode(errors="replace").strip()
            raise WorkerDied(Cause.NOT_STARTED, complaint.rpartition("\n")[2]) from None
        if process.stderr is not None:
            process.stderr.close()  # why it dies later is known from its exit code
        self.is_ready = True

    def _exchange(
        self, frame: bytes, seconds: float | None, check: Check = None, data: bytes | memoryview = b""
    ) -> Any:  # noqa: ANN401
        process, reader = self._process, self._reader
        assert process is not None and reader is not None  # noqa: S101 - after `start`
        try:
            with _deadline(process, seconds) as until:
                if frame:
                    with self._writing:
                        wait = _waiter(self._stdin, "write", until, check)
                        write_frame(self._stdin, frame, wait)
                        write_frame(self._stdin, data, wait)
                return reader.read(_waiter(self._stdout, "read", until, check))
        except TimeoutError:
            self._end(process)
            raise WorkerDied(Cause.DEADLINE, f"after {seconds:.3g} s") from None
        except ValueError as error:
            self._end(process)
            raise WorkerDied(Cause.PROTOCOL, str(error)) from None
        except (OSError, EOFError):
            raise _death(process) from None

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(OSError):
            if self._own_group and hasattr(os, "killpg") and process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        self._kill(process)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)


class CircuitBreaker:
    """A circuit breaker: refuses to start processes for a while after several deaths in a row.

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


def _death(process: subprocess.Popen[bytes]) -> WorkerDied:
    """Return why a process ended, once its pipes have."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_END_SECONDS)
    code = process.returncode
    if code is None:
        return WorkerDied(Cause.CRASH, "it closed its pipes")
    if code == -getattr(signal, "SIGALRM", 0):
        return WorkerDied(Cause.WALL_TIME)
    if code == -getattr(signal, "SIGPROF", 0):
        return WorkerDied(Cause.CPU_TIME)
    return WorkerDied(Cause.CRASH, signal.Signals(-code).name if code < 0 else f"exit code {code}")


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout, process.stderr):
        with contextlib.suppress(OSError):
            if pipe is not None:
                pipe.close()


@contextlib.contextmanager
def _deadline(process: subprocess.Popen[bytes], seconds: float | None) -> Iterator[float | None]:
    """Give the time at which the process is killed; where pipes can't be waited for, a timer does that."""
    if seconds is None or _HAS_POLL:
        yield None if seconds is None else time.monotonic() + seconds + _LAG
        return
    timer = threading.Timer(seconds + _LAG, process.kill)  # Windows: reads and writes end with the process
    timer.daemon = True
    timer.start()
    try:
        yield None
    finally:
        timer.cancel()


def _waiter(handle: int, event: str, until: float | None = None, check: Check = None) -> Callable[[], None]:
    """Return a function that waits for a pipe to be ready; it raises TimeoutError after the deadline."""
    if not _HAS_POLL or (event == "read" and until is None):  # a blocking read waits by itself
        return lambda: None
    poll = select.poll()
    poll.register(handle, select.POLLIN if event == "read" else select.POLLOUT)

    def wait() -> None:
        while True:
            left = math.inf if until is None else max(0.0, until - time.monotonic())
            step = min(left, _CHECK_SECONDS) if check else left
            if poll.poll(None if step == math.inf else 1000 * step):
                return
            if not left:
                raise TimeoutError
            if check:
                check()

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


_supervisors: weakref.WeakSet[Supervisor] = weakref.WeakSet()


def _stop_all() -> None:
    """Kill all workers at exit, and let the system reap them: a command does not wait for that."""
    for supervisor in list(_supervisors):
        supervisor.stop()


def _disown_all() -> None:
    for supervisor in list(_supervisors):
        supervisor.disown()


atexit.register(_stop_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_all)
