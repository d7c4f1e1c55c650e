"""The process that a search leaves behind to answer the next ones (`warm_server.py`): start, find, end it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.interfaces.daemon.frames import PATH_VARIABLES
from dowse.runtime_paths import runtime_folder
from dowse.workers.detached import can_detach, spawn_detached
from dowse.write_lock import lock_holder

if TYPE_CHECKING:
    from dowse.config import Settings
    from dowse.index import Index

# Settings that an index is opened with; a request with others gets an index of its own.
OPEN_SETTINGS = ("encoder", "view", "device", "isolation", "threads")


def start_warm_process(index: Index) -> bool:
    """Leave a process that answers further commands, unless there is one; whether there is one then."""
    settings = index.settings
    if not settings.warm_minutes or not can_detach() or not is_served(settings):
        return False
    if warm_process() is not None:
        return True
    chosen = {name: getattr(settings, name) for name in (*OPEN_SETTINGS, "warm_minutes")}
    argument = json.dumps({"root": str(index.root), "index_dir": index.backend.address, **chosen})
    names = {os.fsdecode(name) for name in PATH_VARIABLES}
    paths = {name: str(Path(os.environ[name]).absolute()) for name in names if os.environ.get(name)}
    try:
        spawn_detached("dowse.interfaces.daemon.warm_server", argument, {**os.environ, **paths})
    except (OSError, NotImplementedError):  # no more processes, or no such system: the next search is cold
        return False
    return True


def warm_process() -> int | None:
    """Return the id of the warm process, None if there is none."""
    return lock_holder(lock_folder())


def stop_warm_process() -> int | None:
    """End the warm process and return its id, None if there was none."""
    pid = warm_process()
    if pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    return pid


def lock_folder() -> Path:
    """Return the folder whose lock the process holds."""
    return Path(runtime_folder(), "warm")


def is_served(settings: Settings) -> bool:
    """Whether nothing that comes from others runs here: their models get processes of their own."""
    from dowse.encoders.model_files import is_shipped

    return not settings.backend and (settings.encoder == "none" or is_shipped(settings.encoder))
