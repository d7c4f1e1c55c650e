"""A pool of parser processes; one that a file kills is replaced, and costs that file alone."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from dowse.errors import DowseError
from dowse.indexing.memory_budget import WORKER_BYTES, resident_bytes
from dowse.indexing.parse_jobs import (
    MAX_REPLY_BYTES,
    AnyJob,
    CorpusJob,
    GraphJob,
    LinkJob,
    ParserSetup,
    Reply,
)
from dowse.parsing.grammar_library import extract
from dowse.parsing.limits import ALL_SLOW_FILES_SECONDS, SLOW_FILES_SECONDS, file_seconds
from dowse.workers.idle import IdleWorkers
from dowse.workers.program import worker_program
from dowse.workers.supervisor import Cause, Supervisor, WorkerDied

# Wall time, far beyond any real file: only what hangs without using the CPU gets here (`parsing.limits`).
FILE_TIME_LIMIT = 30
# CPU time to replace a process that died.
_RESTART_SECONDS = 0.4
# Jobs that a process has queued, so that it never waits for the parent.
_JOBS_AHEAD = 4
# Backpressure: parsed files that may wait for the store, which bounds memory when the store is slower.
_MAX_WAITING_REPLIES = 16
# Jobs that are started ahead of the first unfinished one: a slow file holds up those after it, since replies
# are yielded in the order of the jobs, and this bounds the memory that they take.
WINDOW = 1_000


def parse_all(
    jobs: Iterable[AnyJob],
    processes: int,
    time_limit: int = FILE_TIME_LIMIT,
    program: str = "",
    worker_bytes: int = WORKER_BYTES,
    window: int = WINDOW,
    root: str | Path = "",
    catalog: str = "",
) -> Iterator[Reply]:
    """Yield a reply for every job, in the order of the jobs, so that two builds of an index are the same.

    Args:
        jobs: What to parse or to link; read as the processes need more.
        processes: How many processes work at once.
        time_limit: Seconds of wall time for one job.
        program: The program of the processes, if not `parser_program()`.
        worker_bytes: A process that takes more is replaced once it has done what it was sent.
        window: Jobs that are started ahead of the first unfinished one.
        root: The tree whose files are read; the processes may read no others.
        catalog: That of the index, whose folder is read as well.
    """
    folders = filter(None, [str(root), catalog and str(Path(catalog).parent)])
    setup = ParserSetup(time_limit, tuple((folder, _identity(folder)) for folder in folders))
    pool = _Pool(jobs, setup, program or parser_program(), worker_bytes, window)
    threads = [threading.Thread(target=_Driver(pool).run, daemon=True) for _ in range(max(1, processes))]
    for thread in threads:
        thread.start()
    running, first_unfinished = len(threads), 0
    finished: dict[int, list[Reply]] = {}  # by job, those that wait for an earlier job
    try:
        while running:
            message = pool.replies.get()
            if message is None:
                running -= 1
            elif isinstance(message, BaseException):
                raise message
            else:
                finished[message[0]] = message[1]
            while first_unfinished in finished:
                yield from finished.pop(first_unfinished)
                first_unfinished += 1
                pool.window.release()
    finally:
        pool.stop.set()
        pool.window.release(len(threads))
        while any(thread.is_alive() for thread in threads):  # some may wait for room in the queue
            with contextlib.suppress(queue.Empty):
                pool.replies.get(timeout=0.05)


def _identity(folder: str) -> tuple[int, int]:
    try:
        stat = Path(folder).stat()
    except OSError:  # it is gone, which its reader reports
        return 0, 0
    return stat.st_dev, stat.st_ino


def parser_program() -> str:
    """Return the Python program of a parser process."""
    return worker_program("dowse.indexing.parse_worker")


@contextlib.contextmanager
def keep_idle_workers(count: int = 1) -> Iterator[None]:
    """Keep parser processes for the next call of `parse_all`; nested blocks add up."""
    _idle.change_room(count)
    try:
        yield
    finally:
        _idle.change_room(-count)


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
        if isinstance(job, GraphJob | LinkJob):
            return job
        if self._seconds > ALL_SLOW_FILES_SECONDS and not job.plain_reason:
            return job._replace(plain_reason="too many other files were slow to parse")
        return job._replace(short_limits=True) if self._seconds > SLOW_FILES_SECONDS else job


_idle = IdleWorkers()


class _Pool:
    """What the threads of one call share."""

    def __init__(
        self, jobs: Iterable[AnyJob], setup: ParserSetup, program: str, worker_bytes: int, window: int
    ) -> None:
        self.setup, self.program, self.worker_bytes = setup, program, worker_bytes
        self.slow_files = SlowFileBudget()
        # The number of a job and its replies; an error; None from a thread that ends.
        self.replies: queue.Queue[tuple[int, list[Reply]] | BaseException | None]
        self.replies = queue.Queue(_MAX_WAITING_REPLIES)
        self.stop = threading.Event()
        self.window = threading.Semaphore(window)
        self._jobs, self._lock = enumerate(jobs), threading.Lock()

    def next_job(self, *, wait: bool) -> tuple[int, AnyJob] | None:
        """Return the next job and its number; None if there is none, or none may start yet."""
        if not self.window.acquire(blocking=wait) or self.stop.is_set():
            return None
        with self._lock:
            job = next(self._jobs, None)
        if job is None:
            self.window.release()
        return job

    def worker(self) -> Supervisor:
        """Return the process that was kept, or one that is to be started."""
        worker = _idle.take()
        if worker is not None and (worker.program, worker.setup) == (self.program, self.setup):
            return worker
        if worker is not None:
            worker.discard()
        return Supervisor(self.program, max_bytes=MAX_REPLY_BYTES, quiet=True, is_confined=True)


class _Driver:
    """One thread of the pool, which keeps one process busy."""

    def __init__(self, pool: _Pool) -> None:
        self._pool = pool
        self._pending: deque[tuple[int, AnyJob]] = deque()  # the parts of a split job have its number
        self._replies: list[Reply] = []  # of the parts of a job so far
        self._sent = 0  # so many of the pending jobs are with the process
        self._worker: Supervisor | None = None

    def run(self) -> None:
        """Have jobs done until there are no more; None in the queue of replies says so."""
        pool = self._pool
        try:
            while not pool.stop.is_set() and self._take_jobs():
                self._worker = self._worker or pool.worker()
                try:
                    reply = self._next_reply(self._worker)
                except WorkerDied as death:
                    self._handle_death(self._worker, death)
                else:
                    number, job = self._pending.popleft()
                    self._sent -= 1
                    if reply.status == "grammar":
                        extract(reply.reason)
                        self._pending.insert(self._sent, (number, job))
                    else:
                        self._put(number, reply)
        except BaseException as error:  # handed to the consumer, who raises it
            pool.replies.put(error)
        finally:
            if self._worker is not None:
                is_idle = not self._pending and not pool.stop.is_set()
                (_idle.keep if is_idle else Supervisor.discard)(self._worker)
            pool.replies.put(None)

    def _take_jobs(self) -> bool:
        """Take as many jobs as may be on their way; False if there are none."""
        while len(self._pending) < self._jobs_ahead():
            job = self._pool.next_job(wait=not self._pending)
            if job is None:
                break
            self._pending.append(job)
        return bool(self._pending)

    def _put(self, number: int, reply: Reply) -> None:
        """Hand over the replies of a job once all its parts have one."""
        self._replies.append(reply)
        if not self._pending or self._pending[0][0] != number:
            self._pool.replies.put((number, self._replies))
            self._replies = []

    def _jobs_ahead(self) -> int:
        """Return how many jobs may be on their way.

        One if it carries text: it may be larger than a pipe holds, and then both sides would wait for the
        other to read.
        """
        return 1 if self._pending and isinstance(self._pending[0][1], CorpusJob) else _JOBS_AHEAD

    def _next_reply(self, worker: Supervisor) -> Reply:
        limit = self._pool.worker_bytes
        is_too_large = worker.pid is not None and resident_bytes(worker.pid) > limit
        if not self._sent:
            if is_too_large:
                worker.discard()
            worker.start(self._pool.setup)
            is_too_large = False
        while not is_too_large and self._sent < min(len(self._pending), self._jobs_ahead()):
            number, job = self._pending[self._sent]
            job = self._pool.slow_files.limit(job)
            self._pending[self._sent] = number, job
            worker.send(job)  # if it died, the missing reply tells, and the job is still pending
            self._sent += 1
        reply: Reply | DowseError = worker.receive()
        if isinstance(reply, DowseError):
            raise reply
        return reply

    def _handle_death(self, worker: Supervisor, death: WorkerDied) -> None:
        """Blame the job at hand: split it, or try it without the parser, or give it up."""
        if not worker.is_ready:
            raise DowseError(
                f"a parsing process could not start ({death.detail}); is a limit too low (`ulimit -a`), "
                "or the installation not whole?"
            )
        worker.discard()
        self._sent = 0
        (number, job), slow_files = self._pending.popleft(), self._pool.slow_files
        if isinstance(job, GraphJob | LinkJob):  # the parent does that, or does without
            self._put(number, Reply(job.key, "crashed", reason=self._reason(death)))
            return
        is_slow = death.cause in (Cause.WALL_TIME, Cause.CPU_TIME)
        slow_files.spend(
            _RESTART_SECONDS + (file_seconds(job.size, short=job.short_limits) if is_slow else 0)
        )
        reason = self._reason(death)
        if isinstance(job, CorpusJob) and len(job.functions) > 1:
            # Singly, so that only the function to blame is lost.
            parts = [CorpusJob(each.id, (each,), job.strip_docs) for each in job.functions]
            self._pending.extendleft((number, part) for part in reversed(parts))
        elif not job.plain_reason:  # what ended the process was the parser, most likely: try without
            self._pending.appendleft((number, job._replace(plain_reason=reason)))
        else:
            self._put(number, Reply(job.key, "crashed", reason=reason))

    def _reason(self, death: WorkerDied) -> str:
        if death.cause is Cause.WALL_TIME:
            return f"parser took longer than {self._pool.setup.seconds:g} s"
        if death.cause is Cause.CPU_TIME:
            return "parser took too much CPU time for the size of the file"
        return f"parser died ({death.detail})"
