"""A pool of parser processes; one that a file kills is replaced, and costs that file alone."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections import deque
from collections.abc import Iterable, Iterator

from dowse.errors import DowseError
from dowse.indexing.parse_jobs import MAX_REPLY_BYTES, AnyJob, CorpusJob, Reply
from dowse.parsing.limits import ALL_SLOW_FILES_SECONDS, SLOW_FILES_SECONDS, file_seconds
from dowse.workers.frames import pack
from dowse.workers.process import Cause, WorkerDied, WorkerOptions, WorkerProcess, worker_program
from dowse.workers.supervisor import Supervisor

# Wall time, far beyond any real file: only what hangs without using the CPU gets here (`parsing.limits`).
FILE_TIME_LIMIT = 30
# CPU time to replace a process that died.
_RESTART_SECONDS = 0.4
# Jobs that a process has queued, so that it never waits for the parent.
_JOBS_AHEAD = 4
# Backpressure: parsed files that may wait for the store, which bounds memory when the store is slower.
_MAX_WAITING_REPLIES = 16


def parse_all(
    jobs: Iterable[AnyJob], processes: int, time_limit: int = FILE_TIME_LIMIT, program: str = ""
) -> Iterator[Reply]:
    """Give a reply for every job, in the order they finish.

    Args:
        jobs: The files or functions to parse; read as the processes need more.
        processes: How many processes parse at once.
        time_limit: Seconds of wall time for one job.
        program: The program of the processes, if not `parser_program()`.
    """
    pool = _Pool(jobs, time_limit, WorkerOptions(program or parser_program(), MAX_REPLY_BYTES, quiet=True))
    threads = [threading.Thread(target=_Driver(pool).run, daemon=True) for _ in range(max(1, processes))]
    for thread in threads:
        thread.start()
    running = len(threads)
    try:
        while running:
            reply = pool.replies.get()
            if reply is None:
                running -= 1
            elif isinstance(reply, BaseException):
                raise reply
            else:
                yield reply
    finally:
        pool.stop.set()
        while any(thread.is_alive() for thread in threads):  # some may wait for room in the queue
            with contextlib.suppress(queue.Empty):
                pool.replies.get(timeout=0.05)


def parser_program() -> str:
    """Return the Python program of a parser process."""
    return worker_program("dowse.indexing.parse_worker")


@contextlib.contextmanager
def keep_idle_worker() -> Iterator[None]:
    """Keep a parser process between two updates, for callers that parse a file every now and then."""
    _idle.capacity = 1
    try:
        yield
    finally:
        _idle.capacity = 0
        _idle.close()


class SlowFileBudget:
    """The time that went into files which could not be parsed within their limits; thread-safe."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._lock = threading.Lock()

    def spend(self, seconds: float) -> None:
        """Count a file that was given up after this long."""
        with self._lock:
            self._seconds += seconds

    def limit(self, job: AnyJob) -> AnyJob:
        """Return the job with the limits that the time spent so far leaves it."""
        if self._seconds > ALL_SLOW_FILES_SECONDS and not job.plain_reason:
            return job._replace(plain_reason="too many other files were slow to parse")
        return job._replace(short_limits=True) if self._seconds > SLOW_FILES_SECONDS else job


class _IdleWorkers:
    """Processes without work that are kept for the next update: starting one takes longer than a file."""

    def __init__(self) -> None:
        self.capacity = 0
        self._workers: list[Supervisor] = []
        self._lock = threading.Lock()

    def put(self, worker: Supervisor) -> bool:
        """Keep a process, if there is room."""
        with self._lock:
            has_room = len(self._workers) < self.capacity
            if has_room:
                self._workers.append(worker)
            return has_room

    def take(self, options: WorkerOptions) -> Supervisor | None:
        """Return a process that was started in this way, if there is one; end the others."""
        with self._lock:
            worker = next((each for each in self._workers if each.options == options), None)
            if worker is not None:
                self._workers.remove(worker)
                return worker
        self.close()
        return None

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            workers, self._workers = self._workers, []
        for worker in workers:
            worker.discard()


_idle = _IdleWorkers()


class _Pool:
    """What the threads of one call share."""

    def __init__(self, jobs: Iterable[AnyJob], time_limit: int, options: WorkerOptions) -> None:
        self.time_limit, self.options = time_limit, options
        self.slow_files = SlowFileBudget()
        self.replies: queue.Queue[Reply | BaseException | None] = queue.Queue(_MAX_WAITING_REPLIES)
        self.stop = threading.Event()
        self._jobs, self._lock = iter(jobs), threading.Lock()

    def next_job(self) -> AnyJob | None:
        with self._lock:
            return next(self._jobs, None)


class _Driver:
    """One thread of the pool, which keeps one process busy."""

    def __init__(self, pool: _Pool) -> None:
        self._pool = pool
        self._pending: deque[AnyJob] = deque()
        self._sent = 0  # so many of the pending jobs are with the process
        self._worker: Supervisor | None = None
        self._process: WorkerProcess | None = None

    def run(self) -> None:
        """Have jobs done until there are no more; None in the queue of replies says so."""
        pool = self._pool
        try:
            while not pool.stop.is_set() and self._take_jobs():
                try:
                    reply = self._next_reply()
                except WorkerDied as death:
                    self._handle_death(death)
                else:
                    self._pending.popleft()
                    self._sent -= 1
                    pool.replies.put(reply)
        except BaseException as error:  # handed to the consumer, who raises it
            pool.replies.put(error)
        finally:
            worker = self._worker
            is_busy = pool.stop.is_set() or self._pending
            if worker is not None and (is_busy or not _idle.put(worker)):
                worker.discard()
            pool.replies.put(None)

    def _take_jobs(self) -> bool:
        """Take as many jobs as may be on their way; False if there are none."""
        while len(self._pending) < self._jobs_ahead() and (job := self._pool.next_job()) is not None:
            self._pending.append(job)
        return bool(self._pending)

    def _jobs_ahead(self) -> int:
        """Return how many jobs may be on their way.

        One if it carries text: it may be larger than a pipe holds, and then both sides would wait for the
        other to read.
        """
        return 1 if self._pending and isinstance(self._pending[0], CorpusJob) else _JOBS_AHEAD

    def _next_reply(self) -> Reply:
        pool = self._pool
        if self._worker is None:
            self._worker = _idle.take(pool.options) or Supervisor(pool.options)
        if self._process is None:
            self._process, self._sent = self._worker.ensure_process(pool.time_limit), 0
        while self._sent < min(len(self._pending), self._jobs_ahead()):
            job = self._pending[self._sent] = pool.slow_files.limit(self._pending[self._sent])
            with contextlib.suppress(WorkerDied):  # the missing reply tells, and the job is still pending
                self._process.send(pack(job, MAX_REPLY_BYTES))
            self._sent += 1
        reply: Reply = self._process.receive()
        return reply

    def _handle_death(self, death: WorkerDied) -> None:
        """Blame the job at hand: split it, or try it without the parser, or give it up."""
        assert self._worker is not None  # noqa: S101 - made by `_next_reply`
        self._worker.discard()
        if self._process is None:
            raise DowseError(
                f"a parsing process could not start ({death.detail}); is the installation whole?"
            )
        self._process = None
        job, slow_files = self._pending.popleft(), self._pool.slow_files
        is_slow = death.cause in (Cause.WALL_TIME, Cause.CPU_TIME)
        slow_files.spend(
            _RESTART_SECONDS + (file_seconds(job.size, short=job.short_limits) if is_slow else 0)
        )
        reason = self._reason(death)
        if isinstance(job, CorpusJob) and len(job.functions) > 1:
            # Singly, so that only the function to blame is lost.
            self._pending.extendleft(CorpusJob(each.id, (each,), job.strip_docs) for each in job.functions)
        elif not job.plain_reason:  # what ended the process was the parser, most likely: try without
            self._pending.appendleft(job._replace(plain_reason=reason))
        else:
            self._pool.replies.put(Reply(job.key, "crashed", reason=reason))

    def _reason(self, death: WorkerDied) -> str:
        if death.cause is Cause.WALL_TIME:
            return f"parser took longer than {self._pool.time_limit} s"
        if death.cause is Cause.CPU_TIME:
            return "parser took too much CPU time for the size of the file"
        return f"parser died ({death.detail})"
