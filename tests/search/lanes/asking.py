"""Jobs that healthy lanes answer, and how to wait for processes."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable

from dowse.search.lanes.jobs import LaneJob

KEYWORD = LaneJob(
    "keyword",
    {"text": "bread", "limit": 20, "relax_below": 5, "fuzziness": "auto", "field_weights": {"body": 1.0}},
)
ECHO = LaneJob("echo", {"x": (1, 2.5, "three")})
# Only for what must answer: a loaded machine may take its time.
LONG = 60.0


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until something holds that nothing tells us of."""
    while not condition():
        threading.Event().wait(0.002)


def gone(pid: int) -> bool:
    """Whether a process has ended, waiting for it if it is about to; also one that is not our child."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    try:
        return bool(poll.poll(1000 * LONG))
    finally:
        os.close(handle)
