"""Events and options of a watcher: plain data, quick to load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# In the order in which they happen:
#   waiting    another process watches this index, or writes to it; `detail` says which
#   watching   changes are seen from now on; `detail` says how ("inotify", "polling every 2 s …")
#   index      files are being read: `done` of `total`
#   indexed    words can be searched as files are now: `added`, `changed`, `deleted`, `generation`
#   embed      symbols are being encoded: `done` of `total`
#   embedded   vectors can be searched too; `done` symbols were given one
#   failed     the update failed; `detail` says why, and it is tried again
#   stopped    the last event
EventKind = Literal["waiting", "watching", "index", "indexed", "embed", "embedded", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One event of a watcher."""

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


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """Options of a watcher."""

    threads: int = 1  # that encode
    processes: int = 1  # that parse
    niceness: int = 10  # of all the work; what people do comes first
    poll: bool = False  # find changes by polling, as where the system reports none
