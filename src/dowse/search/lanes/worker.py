"""A process that runs one lane: it gets requests from its parent and sends a reply to each.

It is apart from the search so that native code which hangs or crashes costs this lane's answer and nothing
else. Each request has a time limit that the system enforces (`workers.child.time_limit`), even if the parent
is gone.
"""

from __future__ import annotations

import contextlib
import pickle
from typing import TYPE_CHECKING

from dowse.lazy_classes import NamedTuple
from dowse.search.lanes.jobs import UserError, failure
from dowse.workers.child import READY, Channel, time_limit
from dowse.workers.frames import pack

if TYPE_CHECKING:
    from dowse.config import Settings
    from dowse.encoders.encoder import Encoder
    from dowse.search.lanes.jobs import Lane, LaneResult
    from dowse.storage.protocol import Backend

# Loading a large model from a slow disk takes seconds; what takes longer than this hangs.
START_SECONDS = 60.0
# A lane that is nearly done at its deadline may finish: starting anew would cost more.
GRACE_SECONDS = 0.25


class LaneSetup(NamedTuple):
    """What a worker process runs: the first message it gets."""

    name: str
    lane: Lane
    address: str  # of the index
    settings: Settings


class LaneRequest(NamedTuple):
    """One job."""

    seconds: float  # how long the caller waits for the reply
    generation: tuple[str, int]  # identity of the index and number, whose rows the caller can use
    arguments: bytes  # pickled by the caller, who gets the error if that fails


class LaneReply(NamedTuple):
    """The result of a job, or why there is none."""

    result: LaneResult | None = None
    problem: str = ""
    error: UserError | None = None
    is_stale: bool = False
    detail: str = ""  # a traceback, for the log


def main() -> None:
    """Answer requests until the parent is gone."""
    channel = Channel()
    with contextlib.suppress(EOFError, OSError):
        setup: LaneSetup = channel.receive()
        with time_limit(START_SECONDS):
            worker = LaneWorker(setup)
            worker.warm_up()
        channel.send(READY)
        while True:
            request: LaneRequest = channel.receive()
            with time_limit(request.seconds + GRACE_SECONDS):
                frame = worker.reply_frame(request)
            channel.send_frame(frame)


class LaneWorker:
    """A lane with its reader and encoder."""

    def __init__(self, setup: LaneSetup) -> None:
        self._setup = setup
        self._backend: Backend | None = None
        self._loaded_encoder: Encoder | None = None

    def warm_up(self) -> None:
        """Load everything; an error is reported to the first request instead."""
        from dowse.storage.open import open_backend

        self._backend = open_backend(self._setup.address)
        lane = self._setup.lane
        with contextlib.suppress(Exception):
            lane.load()
            encoder = self._encoder()
            if encoder is not None:
                encoder.encode_queries(["a"])  # also where there is no index yet
            with self._backend.reader() as reader:
                if lane.warm_up is not None:
                    lane.call(reader, encoder, lane.warm_up)

    def reply_frame(self, request: LaneRequest) -> bytes:
        """Return the packed reply to a request."""
        try:
            return pack(self._reply(request))
        except Exception as error:
            import traceback

            problem, user_error = failure(self._setup.name, error)
            return pack(LaneReply(problem=problem, error=user_error, detail=traceback.format_exc()))

    def _reply(self, request: LaneRequest) -> LaneReply:
        arguments = pickle.loads(request.arguments)  # noqa: S301 - from our own parent
        assert self._backend is not None  # noqa: S101 - made by warm_up
        with self._backend.reader() as reader:
            if (reader.identity, reader.generation) != request.generation:
                return LaneReply(is_stale=True)
            return LaneReply(self._setup.lane.call(reader, self._encoder(), arguments))

    def _encoder(self) -> Encoder | None:
        settings = self._setup.settings
        if self._setup.lane.wants_encoder and self._loaded_encoder is None and settings.encoder != "none":
            from dowse.encoders.registry import load_encoder

            self._loaded_encoder = load_encoder(
                settings.encoder, settings.view, settings.device, settings.threads
            )
        return self._loaded_encoder
