"""The jobs that wait for one lane, and the thread that has them done by the lane's process.

Whoever asks puts a job into the queue and waits, never longer than its limit. The process gets one question
at a time, so that all that waits is still here when it hangs or dies, and goes to the next process.
"""

from __future__ import annotations

import pickle
import signal
import threading
import time
from collections import deque

from dowse.search.lanes.frames import MAX_BYTES
from dowse.search.lanes.jobs import LaneJob, Outcome, log_problem
from dowse.search.lanes.process import WorkerEnded, WorkerProcess
from dowse.search.lanes.worker import Question, Reply, Task

# After so many deaths without an answer in between, a lane rests for so long: starting a process that can't
# live for every query of a storm would slow down the lanes that can.
MOST_DEATHS = 3
REST_SECONDS = 5.0
# How long `join` waits for a thread that is about to end.
_JOIN_SECONDS = 5.0
# Half of what a message may have: the rest of a question is small.
_MAX_ARGUMENTS = MAX_BYTES // 2


class LaneQueue:
    """The jobs of one lane; any thread may put some in."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._changed = threading.Condition()
        self._jobs: deque[Waiting] = deque()
        self._process: WorkerProcess | None = None
        self._wanted = False  # whether a process should be there without a job
        self._closed = False
        self._deaths = 0  # since the last answer
        self._rests_until = 0.0
        self._last_words = ""
        self._thread = threading.Thread(target=self._drive, name=f"dowse-{task.name}", daemon=True)
        self._thread.start()

    def put(self, job: Waiting) -> None:
        """Have a job done when its turn comes; a lane that rests says so at once."""
        with self._changed:
            if self._closed or time.monotonic() < self._rests_until:
                job.finish(self._refusal())
                return
            job.starting = self._process is None or not self._process.ready
            self._jobs.append(job)
            self._changed.notify()

    def start(self) -> None:
        """Have the process started."""
        with self._changed:
            self._wanted = True
            self._changed.notify()

    def pid(self) -> int | None:
        """Return the number of the process, if there is one."""
        process = self._process
        return process.pid if process and process.is_alive() else None

    def stop(self) -> None:
        """End the process; who still waits is told."""
        with self._changed:
            self._closed = True
            self._refuse_all()
            if self._process is not None:
                self._process.kill()
            self._changed.notify()

    def join(self) -> None:
        """Wait until process and thread are gone."""
        if self._thread is not threading.current_thread():  # the garbage collector may call from anywhere
            self._thread.join(_JOIN_SECONDS)

    def disown(self) -> None:
        """Let go of a process that somebody else will bury; from here on this is of no use."""
        if self._process is not None:
            self._process.disown()

    def _drive(self) -> None:
        """Have jobs done, one after another."""
        if hasattr(signal, "pthread_sigmask"):  # the process inherits this: Ctrl-C is not for it
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        while self._wait_for_work():
            try:
                self._do_next(self._ready_process())
            except Exception as error:  # whatever it is, the next job gets a new process
                self._bury(_last_words(error))
        if self._process is not None:
            self._process.close()

    def _wait_for_work(self) -> bool:
        """Wait until there is something to do; False if there never will be."""
        with self._changed:
            while not (self._jobs or self._wanted or self._closed):
                self._changed.wait()
            self._wanted = False
            return not self._closed

    def _ready_process(self) -> WorkerProcess:
        """Return a process that waits for a question."""
        process = self._process
        if process is not None and process.is_alive():
            return process
        if process is not None:  # killed between two questions: nobody has lost anything
            process.close()
        process = WorkerProcess(self._task)
        with self._changed:
            self._process = process
            if self._closed:
                raise WorkerEnded("closed")
        process.get_ready()
        with self._changed:
            for job in self._jobs:
                job.starting = False
        return process

    def _do_next(self, process: WorkerProcess) -> None:
        """Have the first job done that somebody still waits for."""
        while (job := self._take()) is not None:
            question = job.question()
            if question is None:
                continue
            try:
                job.finish(process.ask(question))
            except Exception as error:
                why = "closed" if self._closed else f"its process {_last_words(error)}"
                job.finish(Reply(problem=f"{self._task.name}: {why}"))
                raise
            self._deaths = 0
            return

    def _take(self) -> Waiting | None:
        with self._changed:
            return self._jobs.popleft() if self._jobs else None

    def _bury(self, last_words: str) -> None:
        """Forget a process that ended; after too many, rest."""
        with self._changed:
            process, self._process = self._process, None
            self._deaths += 1
            self._last_words = last_words
            if self._deaths >= MOST_DEATHS and not self._closed:
                self._rests_until = time.monotonic() + REST_SECONDS
                self._refuse_all()
        if process is not None:
            process.close()

    def _refuse_all(self) -> None:
        while self._jobs:
            self._jobs.popleft().finish(self._refusal())

    def _refusal(self) -> Reply:
        why = f"resting after repeated failures (its process {self._last_words})"
        return Reply(problem=f"{self._task.name}: {'closed' if self._closed else why}")


class Waiting:
    """A job, and somebody who waits for it."""

    def __init__(self, job: LaneJob, generation: tuple[str, int], deadline: float, seconds: float) -> None:
        self._lane = job.lane
        self._arguments = pickle.dumps(job.arguments, pickle.HIGHEST_PROTOCOL)
        if len(self._arguments) > _MAX_ARGUMENTS:
            raise ValueError(f"a question of {len(self._arguments) / 1e6:.0f} MB is too large")
        self._generation = generation
        self._asked, self._deadline, self._seconds = deadline - seconds, deadline, seconds
        self._done = threading.Event()
        self._reply = Reply()
        self._given_up = False
        self.starting = False  # whether its process is not ready yet

    def question(self) -> Question | None:
        """Return what to ask the process, None if nobody would hear the answer."""
        left = self._deadline - time.monotonic()
        if self._given_up or left <= 0:
            return None
        return Question(left, self._generation, self._arguments)

    def finish(self, reply: Reply) -> None:
        """Hand over the reply; nobody may be there any more."""
        self._reply = reply
        self._done.set()

    def outcome(self) -> Outcome:
        """Wait for the reply, until the time is up."""
        try:
            in_time = self._done.wait(max(0.0, self._deadline - time.monotonic()))
        finally:
            self._given_up = True  # also when interrupted
        reply = self._reply if in_time else Reply(problem=self._late())
        taken = 1000 * (time.monotonic() - self._asked)
        outcome = Outcome(self._lane, reply.result, reply.problem, taken, reply.moved, reply.error)
        log_problem(outcome, reply.detail)
        return outcome

    def _late(self) -> str:
        what = "still starting after" if self.starting else "no answer within"
        return f"{self._lane}: {what} {self._seconds:.3g} s"


def _last_words(error: Exception) -> str:
    return str(error) if isinstance(error, WorkerEnded) else f"could not be asked ({error!r})"
