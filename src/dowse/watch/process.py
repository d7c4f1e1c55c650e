"""The process that does a watcher's work; it gets commands from its parent and sends events.

It is apart so that searches never wait for it, that the system can give it a lower priority, and that it can
be killed at any moment: commits are atomic. It ends by itself when its parent does.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path

from dowse.errors import DowseError, IndexLocked
from dowse.index import Index
from dowse.indexing.parse_pool import keep_idle_workers
from dowse.storage.open import open_backend
from dowse.watch.commands import END, Commands, Settle, WatchJob
from dowse.watch.update_loop import UpdateLoop
from dowse.workers.child import READY, Channel, EventReporter, handle_messages, lower_priority
from dowse.write_lock import write_lock

# How often to check whether another watcher is gone.
_LOCK_SECONDS = 2.0


def main() -> None:
    """Watch until the parent ends it."""
    channel = Channel()
    commands, reporter = Commands(), EventReporter(channel)
    job: WatchJob = channel.receive()
    signal.signal(signal.SIGTERM, lambda *_: commands.end())

    def handle(message: Settle | str) -> None:
        if message == END:
            commands.end()
        elif isinstance(message, Settle):
            commands.settle(message)

    handle_messages(channel, handle)
    channel.send(READY)
    lower_priority(job.niceness)
    try:
        with (
            Index(job.root, job.settings, open_backend(job.address, job.root)) as index,
            _watch_lock(job.lock, commands, reporter),
            keep_idle_workers(),
        ):
            _load_encoder(index)
            UpdateLoop(index, job.poll, commands, reporter).run()
    except (DowseError, OSError) as error:
        reporter.event("failed", detail=str(error))


@contextlib.contextmanager
def _watch_lock(path: str, commands: Commands, reporter: EventReporter) -> Iterator[None]:
    """Hold the lock of an index's one watcher; wait while another process has it."""
    is_waiting = False
    with contextlib.ExitStack() as stack:
        while not commands.ended:
            try:
                stack.enter_context(write_lock(Path(path), 0.0, lambda _: None))
                break
            except IndexLocked:
                if not is_waiting:
                    reporter.event(
                        "waiting", detail="another dowse watches this index; waiting until it ends"
                    )
                is_waiting = True
            commands.fail_for(_LOCK_SECONDS, reporter)
        yield


def _load_encoder(index: Index) -> None:
    """Load the encoder before the first file is saved."""
    if index.encoder is not None:
        from dowse.encoders.document import Document

        index.encoder.encode_documents([Document("", "warm", "", "def warm(): pass", "python", "warm.py")])
