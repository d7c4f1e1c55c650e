"""The process that maintains indexes: it updates, links, embeds and learns, one thing after another.

It is apart so that searches never wait for it, that the system can give it a lower priority, and that it can
be killed at any moment: commits are atomic. It ends when nothing is left to do, or with its parent.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections import deque
from pathlib import Path

from dowse.errors import DowseError
from dowse.indexing.parse_pool import keep_idle_workers
from dowse.watch.maintained import MaintainedIndex
from dowse.watch.messages import END, Forget, Request
from dowse.workers.child import IDLE, READY, Channel, EventReporter, handle_messages, lower_priority

# Without anything to do, the process stays so long: searches often follow each other.
_IDLE_SECONDS = 5.0


def main() -> None:
    """Maintain indexes until nothing is left to do."""
    channel = Channel()
    niceness: int = channel.receive()
    worker = Worker(EventReporter(channel))
    handle_messages(channel, worker.receive)
    channel.send(READY)
    lower_priority(niceness)
    if niceness >= IDLE:
        _lower_session()
    with keep_idle_workers():
        worker.run()


def _lower_session() -> None:
    """Let other sessions come first: Linux shares the CPU among sessions, then among processes of one."""
    with contextlib.suppress(OSError):  # another system, or without such groups
        Path("/proc/self/autogroup").write_text("19", encoding="ascii")


class Worker:
    """The loop: messages and file changes come in, generations of indexes come out.

    One thread, which waits for whatever is due next. Encoding is interrupted for changes of any index; so one
    that is embedded for an hour keeps no other waiting.
    """

    def __init__(self, reporter: EventReporter) -> None:
        self._reporter = reporter
        self._messages: deque[Request | Forget | str] = deque()
        self._wake, self._waker = os.pipe()
        os.set_blocking(self._wake, False)
        self._indexes: dict[str, MaintainedIndex] = {}
        self._has_ended = False

    def receive(self, message: Request | Forget | str) -> None:
        """Take a message; thread-safe."""
        self._messages.append(message)
        os.write(self._waker, b"m")

    def run(self) -> None:
        """Work until the end is asked for, or nothing has been to do for a while."""
        idle_since = time.monotonic()
        while not self._has_ended and time.monotonic() - idle_since < _IDLE_SECONDS:
            self._wait()
            self._accept()
            for each in list(self._indexes.values()):
                each.step()
            for each in self._indexes.values():
                if each.work_on():  # a while: then changes come first again
                    break
            for key, each in list(self._indexes.items()):
                if each.is_finished:
                    self._forget(key)
                    self._reporter.event("finished", key=key, number=each.number)
            if self._indexes:
                idle_since = time.monotonic()
        for key in list(self._indexes):
            self._forget(key)

    def _wait(self) -> None:
        handles = [each.handle for each in self._indexes.values() if each.handle >= 0]
        due = min((each.due() for each in self._indexes.values()), default=float("inf"))
        if not self._messages:
            seconds = min(_IDLE_SECONDS, max(0.0, due - time.monotonic()))
            select.select([self._wake, *handles], [], [], seconds)

    def _accept(self) -> None:
        """Take in the messages that have arrived."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake, 4096)
        while self._messages:
            message = self._messages.popleft()
            if isinstance(message, Request):
                self._request(message)
            elif isinstance(message, Forget):
                self._forget(message.key)
            elif message == END:
                self._has_ended = True

    def _request(self, request: Request) -> None:
        known = self._indexes.get(request.key)
        if known is not None:
            known.request(request)
            return
        try:
            self._indexes[request.key] = MaintainedIndex(request, self._reporter, self._is_interrupted)
        except (DowseError, OSError) as error:
            self._reporter.event("failed", key=request.key, detail=str(error))
            self._reporter.event("finished", key=request.key, number=request.number)

    def _forget(self, key: str) -> None:
        if key in self._indexes:
            self._indexes.pop(key).close()

    def _is_interrupted(self) -> bool:
        """Whether changes or messages wait that come before encoding.

        Each search asks to finish its index: where that is being done, it goes on.
        """
        return not all(self._is_known(each) for each in tuple(self._messages)) or any(
            each.has_changes() for each in list(self._indexes.values())
        )

    def _is_known(self, message: Request | Forget | str) -> bool:
        return isinstance(message, Request) and message.task == "finish" and message.key in self._indexes
