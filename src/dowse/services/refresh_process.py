"""A process that updates one index and sends progress events to its parent.

It is apart from the server so that searches never wait for it, and so that it can be killed at any moment:
commits are atomic. It ends by itself when the server does.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from dowse.config import Settings
from dowse.errors import DowseError
from dowse.index import Index
from dowse.services.background_embedding import start_learning
from dowse.storage.open import open_backend
from dowse.workers.child import READY, Channel, EventReporter, handle_messages, lower_priority

# Searches come first where cores are scarce.
_NICENESS = 5


class RefreshJob(NamedTuple):
    """The index to update: the only message that the process gets."""

    root: Path
    address: str
    settings: Settings
    rebuild: bool


def main() -> None:
    """Update an index."""
    channel = Channel()
    reporter = EventReporter(channel)
    job: RefreshJob = channel.receive()
    handle_messages(channel)
    channel.send(READY)
    lower_priority(_NICENESS)
    try:
        reporter.event("done", detail=_refresh(job, reporter))
    except (DowseError, OSError) as error:
        reporter.event("failed", detail=str(error))


def _refresh(job: RefreshJob, reporter: EventReporter) -> str:
    """Update and embed an index; return a summary."""
    with Index(job.root, job.settings, open_backend(job.address, job.root)) as index:
        if index.exists and not job.rebuild:
            index = index.as_built()
        report = index.update(
            rebuild=job.rebuild, on_progress=reporter.progress("index"), on_wait=reporter.waiting
        )
        summary = f"{report.added:,} added, {report.changed:,} changed, {report.deleted:,} deleted"
        if index.encoder is not None and index.unembedded():
            reporter.event("embed", done=0, total=index.unembedded())
            embedded = index.embed(on_progress=reporter.progress("embed"), on_wait=reporter.waiting)
            summary = f"{summary}; {embedded.encoded + embedded.reused:,} embedded"
        start_learning(index)
        return summary
