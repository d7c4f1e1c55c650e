"""A process that runs one lane: questions come in on standard input, answers go out on standard output.

It lives apart from the search so that native code which hangs or crashes costs this lane's answer and
nothing else. Each question is bracketed by the system's interval timer, whose signal is left at its default
action: it ends this process even while native code holds the interpreter's lock, and even if nobody is left
to end it from outside.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
from typing import TYPE_CHECKING, NamedTuple

from dowse.search.lanes.frames import pack, receive, send
from dowse.search.lanes.jobs import Mistake, failure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dowse.config import Settings
    from dowse.encoders.encoder import Encoder
    from dowse.search.lanes.jobs import LaneResult
    from dowse.search.lanes.registry import Lane
    from dowse.storage.protocol import Backend

# Loading a large model from a slow disk takes seconds; what takes longer than this hangs.
START_SECONDS = 60.0
# A lane that is nearly done when its time is up may finish: starting anew would cost more.
GRACE_SECONDS = 0.25
# The first answer of every process: everything is loaded.
READY = "ready"


class Task(NamedTuple):
    """What a worker is for: the first message it gets."""

    name: str
    lane: Lane
    address: str  # of the index
    settings: Settings


class Question(NamedTuple):
    """One job."""

    seconds: float  # how long somebody waits for the answer
    generation: tuple[str, int]  # index and number, the rows of which the asker can use
    arguments: bytes  # packed by the asker, who is told of what can't be


class Reply(NamedTuple):
    """What became of it."""

    result: LaneResult | None = None
    problem: str = ""
    error: Mistake | None = None
    moved: bool = False
    detail: str = ""  # a traceback, for the log


def main() -> None:
    """Answer questions until standard input ends."""
    incoming, outgoing = _take_pipes()
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):  # whoever asked has gone
        _set_signals()
        task: Task = receive(incoming)
        with _limit(START_SECONDS):
            worker = Worker(task)
            worker.warm_up()
        send(outgoing, pack(READY))
        while True:
            question: Question = receive(incoming)
            with _limit(question.seconds + GRACE_SECONDS):
                frame = worker.frame(question)
            send(outgoing, frame)


class Worker:
    """A lane with what it reads from."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._backend: Backend | None = None
        self._encoder: Encoder | None = None

    def warm_up(self) -> None:
        """Load everything; what goes wrong here is told to the first who asks."""
        from dowse.storage.open import open_backend

        self._backend = open_backend(self._task.address)
        lane = self._task.lane
        with contextlib.suppress(Exception):
            lane.load()
            encoder = self._encoder_wanted()
            if encoder is not None:
                encoder.encode_queries(["a"])  # also where there is no index yet
            with self._backend.reader() as reader:
                if lane.warm_up is not None:
                    lane.call(reader, encoder, lane.warm_up)

    def frame(self, question: Question) -> bytes:
        """Return the packed reply to a question."""
        try:
            return pack(self._answer(question))
        except Exception as error:
            import traceback

            problem, mistake = failure(self._task.name, error)
            return pack(Reply(problem=problem, error=mistake, detail=traceback.format_exc()))

    def _answer(self, question: Question) -> Reply:
        arguments = pickle.loads(question.arguments)  # noqa: S301 - from our own parent
        assert self._backend is not None  # noqa: S101 - made by warm_up
        with self._backend.reader() as reader:
            if (reader.identity, reader.generation) != question.generation:
                return Reply(moved=True)
            return Reply(self._task.lane.call(reader, self._encoder_wanted(), arguments))

    def _encoder_wanted(self) -> Encoder | None:
        settings = self._task.settings
        if self._task.lane.wants_encoder and self._encoder is None and settings.encoder != "none":
            from dowse.encoders.registry import load_encoder

            self._encoder = load_encoder(settings.encoder, settings.view, settings.device, settings.threads)
        return self._encoder


def _take_pipes() -> tuple[int, int]:
    """Keep the pipes for messages: whatever else reads or writes gets nothing, and the log."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no standard error
        os.dup2(0, 1)
    return incoming, outgoing


def _set_signals() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])


@contextlib.contextmanager
def _limit(seconds: float) -> Iterator[None]:
    """Let the system end this process if what is inside takes longer."""
    if not hasattr(signal, "setitimer"):  # then the parent ends it
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
