"""What the worker that maintains indexes is told, and the events that it reports."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from dowse.config import Settings
from dowse.lazy_classes import NamedTuple, dataclass

# What can be requested of an index, from the least to the most:
#   finish     build the call graph, embed and learn, as far as that is not done; files are not looked at
#   check      update the index if files have changed, as far as that is quick to find out; then finish it
#   update     update the index, then finish it
#   rebuild    build it anew, then finish it
#   watch      update it now and whenever files change, until it is forgotten
Task = Literal["finish", "check", "update", "rebuild", "watch"]
TASKS: tuple[Task, ...] = ("finish", "check", "update", "rebuild", "watch")


class Request(NamedTuple):
    """What is to be done with an index."""

    key: str
    number: int  # counts up
    task: Task
    root: Path
    address: str
    settings: Settings
    poll: bool = False  # find changes by polling, as where the system reports none


class Forget(NamedTuple):
    """Do nothing more with an index."""

    key: str


END = "end"

# In the order in which they happen:
#   waiting    another process watches this index, or writes to it; `detail` says which
#   begun      what was requested is being done: requests from here on are about changes from here on
#   watching   changes are seen from now on; `detail` says how ("inotify", "polling every 2 s …")
#   index      files are being read: `done` of `total`
#   indexed    words can be searched as files are now: `added`, `changed`, `deleted`, `generation`
#   embed      symbols are being encoded: `done` of `total`
#   embedded   vectors can be searched too; `done` symbols were given one
#   failed     the update failed; `detail` says why, and a watched index is tried again
#   finished   nothing is left to do
#   stopped    the last event of all
EventKind = Literal[
    "waiting",
    "begun",
    "watching",
    "index",
    "indexed",
    "embed",
    "embedded",
    "failed",
    "finished",
    "stopped",
]


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One event of an index."""

    kind: EventKind
    root: str  # of the index
    detail: str = ""
    done: int = 0
    total: int = 0
    added: int = 0
    changed: int = 0
    deleted: int = 0
    generation: int = 0
    seconds: float = 0.0  # that the work took
