"""The resident process of a user (`resident_process.py`): start it, ask it to finish an index, end it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.interfaces.daemon.client import FINISH, STOP, ask
from dowse.interfaces.daemon.frames import EXIT, PATH_VARIABLES
from dowse.runtime_paths import runtime_folder
from dowse.workers.detached import can_detach, spawn_detached
from dowse.write_lock import lock_holder

if TYPE_CHECKING:
    from dowse.config import Settings
    from dowse.index import Index

# What searching, linking and embedding depend on; a command line is no place for the others.
_SETTINGS = (
    *("encoder", "view", "vectors", "device", "isolation", "threads", "adapter"),
    *("processes", "resident_minutes"),
)

# A busy process is to end, too.
_STOP_SECONDS = 10.0
# A new process holds its lock before it listens.
_START_SECONDS = 2.0
_POLL_SECONDS = 0.02


def leave_resident(searched: Index, unfinished: Sequence[Index]) -> None:
    """Have a process stay that answers the next commands, unless there is one, and finishes some indexes.

    Args:
        searched: The index that was searched.
        unfinished: Indexes of which something is left to be linked, embedded or learnt.
    """
    settings = searched.settings
    if not settings.resident_minutes or not can_detach() or searched.is_shared:
        return
    if not unfinished and (not is_served(settings) or resident_pid() is not None):
        return
    left = [_describe(index) for index in unfinished]
    if left and ask(FINISH, [each.encode() for each in left]) is not None:
        return
    names = {os.fsdecode(name) for name in PATH_VARIABLES}
    paths = {name: str(Path(os.environ[name]).absolute()) for name in names if os.environ.get(name)}
    argument = json.dumps({"searched": _describe(searched), "unfinished": left})
    try:
        spawn_detached("dowse.interfaces.daemon.resident_process", argument, {**os.environ, **paths})
    except (OSError, NotImplementedError):  # no more processes, or no such system: the next search is cold
        return


def _describe(index: Index) -> str:
    """Return root, place and settings of an index, for a process that works in another folder."""
    from dowse.encoders.model_files import is_shipped

    settings = {name: getattr(index.settings, name) for name in _SETTINGS}
    name = index.settings.encoder
    if name != "none" and not is_shipped(name) and not name.startswith("hf:"):
        settings["encoder"] = str(Path(name).expanduser().absolute())
    return json.dumps({"root": str(index.root), "index_dir": index.backend.address, **settings})


def resident_pid() -> int | None:
    """Return the id of the resident process, None if there is none."""
    return lock_holder(lock_folder())


def stop_resident() -> int | None:
    """Have the resident process end, and return its id; None if there is none that a search has left."""
    parts, until = ask(STOP, [], _STOP_SECONDS), time.monotonic() + _START_SECONDS
    while not parts and resident_pid() is not None and time.monotonic() < until:  # it is just starting
        time.sleep(_POLL_SECONDS)
        parts = ask(STOP, [], _STOP_SECONDS)
    pid = int(parts[-1].removeprefix(EXIT)) if parts else 0
    until = time.monotonic() + _STOP_SECONDS
    while pid and resident_pid() == pid and time.monotonic() < until:
        time.sleep(_POLL_SECONDS)
    return pid or None


def lock_folder() -> Path:
    """Return the folder whose lock the process holds."""
    return Path(runtime_folder(), "resident")


def is_served(settings: Settings) -> bool:
    """Whether nothing that comes from others runs in the process: their models get processes of their own."""
    from dowse.encoders.model_files import is_shipped

    return not settings.backend and (settings.encoder == "none" or is_shipped(settings.encoder))
