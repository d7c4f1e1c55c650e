"""The warm process: left behind by a search, it answers the next ones of its user, in any repository.

One for each user and cache folder, which a lock makes sure of. It opens indexes as they are asked for, and
settings are read anew for every command. It may be killed at any moment: the client then runs the command.
Symbols are embedded by another process (`services/background_embedding.py`), at low priority.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from dowse.errors import DowseError
from dowse.interfaces.daemon.client import WARM_SOCKET
from dowse.interfaces.daemon.warm import OPEN_SETTINGS, is_served, lock_folder
from dowse.process_memory import prepare_for_long_life
from dowse.runtime_paths import make_runtime_folder, runtime_folder
from dowse.write_lock import write_lock

if TYPE_CHECKING:
    from dowse.config import Settings
    from dowse.index import Index

# Indexes that are open at once; each takes some megabytes of its own, the model is shared.
_MAX_INDEXES = 4
# Memory at which the process ends: the next search starts a smaller one.
_MAX_BYTES = 1 << 30
# A request that takes so long hangs: searches for patterns end after a minute, updates are small ones.
_HANG_SECONDS = 180.0
# How often the process looks whether it is to end.
_POLL_SECONDS = 2.0
# Who only looks whether the lock is held has it for an instant.
_LOCK_SECONDS = 1.0


def main() -> None:
    """Answer commands until nobody has asked for a while."""
    prepare_for_long_life()
    arguments = json.loads(sys.argv[1])
    minutes = arguments.pop("warm_minutes")
    # Nobody reads an error: another process was first, or the cache folder can't be written to.
    with contextlib.suppress(DowseError, OSError):
        make_runtime_folder()
        with write_lock(lock_folder(), _LOCK_SECONDS, lambda _: None):
            _serve(arguments, 60.0 * minutes)


def _serve(first: dict[str, Any], idle_seconds: float) -> None:
    from dowse.interfaces.daemon.server import DaemonServer

    stopping = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    indexes, program = WarmIndexes(), _ProgramFiles()
    server = DaemonServer(hang_seconds=_HANG_SECONDS)
    server.start()
    indexes.warm_up(**first)
    server.serve(WARM_SOCKET, indexes)
    socket = Path(runtime_folder(), WARM_SOCKET)
    while (left := idle_seconds - server.idle_seconds) > 0 and not stopping.wait(min(left, _POLL_SECONDS)):
        if indexes.is_switched_off or _peak_bytes() > _MAX_BYTES or program.is_updated():
            break
        if server.is_unsuitable:  # the next search leaves one that suits
            break
        if server.idle_seconds > _POLL_SECONDS and not socket.exists():  # the cache folder was removed
            break
    server.stop()


class WarmIndexes:
    """The indexes that were searched last, opened on demand; thread-safe."""

    has_updater = False

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._indexes: dict[tuple[object, ...], Index] = {}  # the one used last is the last
        self.is_switched_off = False  # whether the user does not want this process any more

    def open(self, root: Path, folder: str, settings: Settings) -> Index:
        """Return an index; one that is dropped meanwhile closes when its last request ends."""
        from dowse.index import Index
        from dowse.interfaces.daemon.command import Declined
        from dowse.storage.open import open_backend

        if not settings.warm_minutes:
            self.is_switched_off = True
        if not settings.warm_minutes or not is_served(settings):
            raise Declined
        key = (root, folder, *(getattr(settings, name) for name in OPEN_SETTINGS))
        with self._lock:
            index = self._indexes.pop(key, None)
            if index is None or not index.backend.exists():
                index = Index(root, settings, open_backend(folder, root)).keep_lanes_in_process()
            self._indexes[key] = index
            for old in list(self._indexes)[:-_MAX_INDEXES]:
                del self._indexes[old]
        if not index.exists:
            raise Declined
        return index

    def wait_for_updates(self, index: Index, vectors: bool) -> bool:
        """Return False: commands look for changed files themselves."""
        return False

    def warm_up(self, root: str, index_dir: str, **settings: object) -> None:
        """Load what the first request would have to wait for."""
        from dowse.config import load_settings
        from dowse.interfaces.daemon.command import Declined
        from dowse.interfaces.daemon.server import warm_up

        with contextlib.suppress(Declined, DowseError):
            place = Path(root)
            warm_up(self.open(place, index_dir, load_settings(place, index_dir=index_dir, **settings)))


class _ProgramFiles:
    """The files of this program that are loaded; an update of dowse replaces them."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}

    def is_updated(self) -> bool:
        """Whether a file is not the one that it was when this was first called after it was loaded."""
        modules = [module for name, module in list(sys.modules.items()) if name.startswith("dowse.")]
        files = [module.__file__ for module in modules if module.__file__]
        return any(self._known.setdefault(file, state) != state for file in files if (state := _state(file)))


def _state(file: str) -> tuple[int, int]:
    try:
        status = os.stat(file)  # noqa: PTH116 - hundreds of them every few seconds
    except OSError:
        return (0, 0)
    return status.st_ino, status.st_mtime_ns


def _peak_bytes() -> int:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
