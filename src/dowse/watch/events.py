"""What a watcher says and how it behaves: plain data, quick to load."""

from __future__ import annotations

from dataclasses import dataclass

# What can happen, in the order it happens:
#   waiting    another process watches this index, or writes to it; `detail` says which
#   watching   changes are seen from now on; `detail` says how ("inotify", "polling every 2 s …")
#   index      files are being read: `done` of `total`
#   indexed    words can be searched as files are now: `added`, `changed`, `deleted`, `generation`
#   embed      symbols are being encoded: `done` of `total`
#   embedded   meaning can be searched too; `done` symbols were given a vector
#   failed     bringing the index up to date failed; `detail` says why, and it is tried again
#   stopped    nothing more comes
KINDS = ("waiting", "watching", "index", "indexed", "embed", "embedded", "failed", "stopped")


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One thing that happened; `kind` is one of `KINDS`."""

    kind: str
    root: str  # of the index that it happened to
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
    """How a watcher behaves."""

    threads: int = 1  # that encode
    processes: int = 1  # that parse
    niceness: int = 10  # of all the work; what people do comes first
    poll: bool = False  # look for changes by scans, as where the system can't tell of them
