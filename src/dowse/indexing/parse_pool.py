"""Several parsing processes at work, each replaced when a file kills it."""

from __future__ import annotations

import contextlib
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from typing import BinaryIO, cast

from dowse.errors import DowseError
from dowse.indexing.parse_jobs import READY, AnyJob, CorpusJob, Reply, read_frame, write_frame
from dowse.parsing.limits import ALL_SLOW_FILES_SECONDS, SLOW_FILES_SECONDS, file_seconds

# Wall time, far beyond any real file: only what hangs without using the CPU gets here (`parse.limits`).
FILE_TIME_LIMIT = 30
# CPU time to start a process in the place of one that died.
_RESTART_SECONDS = 0.4
# Jobs a process has ahead of it, so that it never waits for the parent.
_AHEAD = 4
# Parsed files that may wait for the store; bounds memory when the store is the slower side.
_BACKLOG = 16


def parse_all(
    jobs: Iterable[AnyJob], processes: int, time_limit: int = FILE_TIME_LIMIT, program: str = ""
) -> Iterator[Reply]:
    """Give a reply for every job, in the order they finish.

    Args:
        jobs: What to parse; read as the processes ask for more.
        processes: How many processes parse at once.
        time_limit: Seconds that one job may take.
        program: What the processes run, if not `worker_program(time_limit)`.
    """
    program = program or worker_program(time_limit)
    source, slow = _Source(jobs), _SlowFiles()
    replies: queue.Queue[Reply | BaseException | None] = queue.Queue(_BACKLOG)
    stop = threading.Event()
    threads = [
        threading.Thread(target=_drive, args=(source, slow, replies, stop, program, time_limit), daemon=True)
        for _ in range(max(1, processes))
    ]
    for thread in threads:
        thread.start()
    running = len(threads)
    try:
        while running:
            reply = replies.get()
            if reply is None:
                running -= 1
            elif isinstance(reply, BaseException):
                raise reply
            else:
                yield reply
    finally:
        stop.set()
        _drain(replies, threads)


class _Resting:
    """Processes that have nothing to do and stay for the next time: starting one takes longer than a file."""

    def __init__(self) -> None:
        self.room = 0
        self._workers: list[tuple[str, subprocess.Popen[bytes]]] = []
        self._lock = threading.Lock()

    def take_in(self, program: str, worker: subprocess.Popen[bytes]) -> bool:
        """Let a process stay, if there is room."""
        with self._lock:
            if len(self._workers) >= self.room:
                return False
            self._workers.append((program, worker))
            return True

    def wake(self, program: str) -> subprocess.Popen[bytes] | None:
        """Return a process that runs a program and is well, if there is one."""
        with self._lock:
            for each in list(self._workers):
                self._workers.remove(each)
                if each[0] == program and each[1].poll() is None:
                    return each[1]
                _end(each[1])
        return None


_resting = _Resting()


@contextlib.contextmanager
def kept_process() -> Iterator[None]:
    """Let a parsing process stay between two runs, for whoever parses a file every now and then."""
    _resting.room = 1
    try:
        yield
    finally:
        _resting.room = 0
        _resting.wake("")  # which no process runs: all end


class _Source:
    """The jobs, shared by several threads."""

    def __init__(self, jobs: Iterable[AnyJob]) -> None:
        self._jobs = iter(jobs)
        self._lock = threading.Lock()

    def take(self) -> AnyJob | None:
        with self._lock:
            return next(self._jobs, None)


class _SlowFiles:
    """The time that files took which could not be parsed within their limits; shared by several threads."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._lock = threading.Lock()

    def add(self, seconds: float) -> None:
        """Count a file that was given up after this long."""
        with self._lock:
            self._seconds += seconds

    def limited(self, job: AnyJob) -> AnyJob:
        """Return the job as it may be done after all the time that is lost."""
        if self._seconds > ALL_SLOW_FILES_SECONDS and not job.plain:
            return job._replace(plain="too many other files were slow to parse")
        return job._replace(short_limits=True) if self._seconds > SLOW_FILES_SECONDS else job


def worker_program(time_limit: int) -> str:
    """Return the Python program of a parsing process."""
    # The parent's own search path, so that the child finds the very same package.
    start = f"from dowse.indexing.parse_worker import main; main({time_limit})"
    return f"import sys; sys.path[:] = {sys.path!r}\n{start}"


def _drive(
    source: _Source,
    slow: _SlowFiles,
    replies: queue.Queue[Reply | BaseException | None],
    stop: threading.Event,
    program: str,
    time_limit: int,
) -> None:
    """Keep one process busy, and start another in its place when it dies."""
    pending: deque[AnyJob] = deque()
    sent = 0  # so many of the pending jobs are with the process
    worker: subprocess.Popen[bytes] | None = None
    try:
        while not stop.is_set():
            while len(pending) < _ahead(pending) and (job := source.take()) is not None:
                pending.append(job)
            if not pending:
                break
            if worker is None:
                worker, sent = _resting.wake(program) or _start(program), 0
            while sent < min(len(pending), _ahead(pending)):
                pending[sent] = slow.limited(pending[sent])
                _send(worker, pending[sent])
                sent += 1
            reply = cast("Reply | None", read_frame(cast(BinaryIO, worker.stdout)))
            job, sent = pending.popleft(), sent - 1
            if reply is not None:
                replies.put(reply)
                continue
            (reason, was_slow), worker = _cause_of_death(worker, time_limit), None
            taken = file_seconds(job.size, short=job.short_limits) if was_slow else 0
            slow.add(_RESTART_SECONDS + taken)
            if isinstance(job, CorpusJob) and len(job.functions) > 1:
                pending.extendleft(_singly(job))
            elif not job.plain:  # what ended the process was the parser, most likely: try without
                pending.appendleft(job._replace(plain=reason))
            else:
                replies.put(Reply(job.key, (), reason))
    except BaseException as error:  # handed to the consumer, who raises it
        replies.put(error)
    finally:
        if worker is not None and (stop.is_set() or pending or not _resting.take_in(program, worker)):
            if stop.is_set():
                worker.kill()
            _end(worker)
        replies.put(None)


def _ahead(pending: deque[AnyJob]) -> int:
    """Return how many jobs may be on their way.

    One if it carries text: it may be larger than a pipe holds, and then both sides would wait for the
    other to read.
    """
    return 1 if pending and isinstance(pending[0], CorpusJob) else _AHEAD


def _singly(job: CorpusJob) -> Iterator[CorpusJob]:
    """Split a job that killed its process, so that only the function to blame is lost."""
    for function in job.functions:
        yield CorpusJob(function.id, (function,), job.strip_docs)


def _start(program: str) -> subprocess.Popen[bytes]:
    worker = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    if read_frame(cast(BinaryIO, worker.stdout)) != READY:
        _, complaint = worker.communicate()
        last = complaint.decode(errors="replace").strip().rpartition("\n")[2]
        raise DowseError(f"a parsing process could not start ({last}); is the installation whole?")
    cast(BinaryIO, worker.stderr).close()  # what it would say when it dies is said by its exit code
    return worker


def _send(worker: subprocess.Popen[bytes], job: AnyJob) -> None:
    try:
        write_frame(cast(BinaryIO, worker.stdin), job)
    except (BrokenPipeError, OSError):
        return  # it died: the missing reply tells, and the job is still pending


def _cause_of_death(worker: subprocess.Popen[bytes], time_limit: int) -> tuple[str, bool]:
    """Say in words why a process died, and whether that was a time limit."""
    _end(worker)
    code = worker.returncode
    if code == -getattr(signal, "SIGALRM", 0):
        return f"parser took longer than {time_limit} s", True
    if code == -getattr(signal, "SIGPROF", -1):
        return "parser took too much CPU time for the size of the file", True
    return f"parser died ({signal.Signals(-code).name if code < 0 else f'exit {code}'})", False


def _end(worker: subprocess.Popen[bytes]) -> None:
    for pipe in (worker.stdin, worker.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                continue
    worker.wait()


def _drain(replies: queue.Queue[Reply | BaseException | None], threads: list[threading.Thread]) -> None:
    """Let threads that wait for room in the queue finish."""
    while any(thread.is_alive() for thread in threads):
        try:
            replies.get(timeout=0.05)
        except queue.Empty:
            continue
