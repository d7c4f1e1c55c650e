"""The indexes that the resident process has open, and the worker that maintains them."""

from __future__ import annotations

import contextlib
import gc
import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.config import Settings, load_settings
from dowse.errors import DowseError
from dowse.index import Index
from dowse.interfaces.daemon.client import COMMANDS
from dowse.interfaces.daemon.command import Declined
from dowse.interfaces.daemon.resident import is_served
from dowse.storage.open import open_backend

if TYPE_CHECKING:
    from dowse.watch import Maintainer

# Indexes that are open at once; each takes some megabytes of its own, the model is shared.
_MAX_INDEXES = 4
# Settings that an index is opened with; a request with others gets an index of its own.
_OPEN_SETTINGS = ("encoder", "view", "device", "isolation", "threads")


class OpenIndexes:
    """The indexes that were searched last, opened on demand; thread-safe."""

    def __init__(self, maintainer: Maintainer, *, is_foreground: bool = False) -> None:
        """Open nothing yet.

        Args:
            maintainer: What updates and embeds them.
            is_foreground: Whether the user has started this process, and ends it.
        """
        self.maintainer, self._is_foreground = maintainer, is_foreground
        self._lock = threading.Lock()
        self._indexes: dict[tuple[object, ...], Index] = {}  # the one used last is the last
        self.is_switched_off = False  # whether the user does not want this process any more

    def open(self, root: Path, folder: str, settings: Settings) -> Index:
        """Return an index; one that is dropped meanwhile closes when its last request ends."""
        if not settings.resident_minutes and not self._is_foreground:
            self.is_switched_off = True
            raise Declined
        if not is_served(settings):
            raise Declined
        key = (root, folder, *(getattr(settings, name) for name in _OPEN_SETTINGS))
        with self._lock:
            index = self._indexes.pop(key, None)
            if index is None or not index.backend.exists():
                index = Index(root, settings, open_backend(folder, root)).internals.keep_lanes_in_process()
            self._indexes[key] = index
            for old in list(self._indexes)[:-_MAX_INDEXES]:
                del self._indexes[old]
        if not index.exists:
            raise Declined
        return index

    def finish(self, index: Index) -> None:
        """Have the rest of an index linked, embedded and learnt in the background."""
        self.maintainer.request(index, "finish")

    def take(self, description: str) -> None:
        """Finish the index that a command describes which has answered by itself; raises ValueError."""
        root, folder, settings = _read(description)
        with contextlib.suppress(DowseError), Index(root, settings, open_backend(folder, root)) as index:
            self.finish(index)

    def warm_up(self, root: Path, folder: str, settings: Settings) -> None:
        """Load what the first request would have to wait for."""
        with contextlib.suppress(Exception, Declined):  # whatever it is, the first request reports it
            from dowse.interfaces.cli.main import load_command

            index = self.open(root, folder, settings)
            for command in COMMANDS:
                load_command(command)
            index.search("get ready", k=1, feedback=False, embed=False)
        # What is loaded by now stays: looking through it for cycles took a third of a request's time.
        gc.collect()
        gc.freeze()

    def begin(self, description: str) -> None:
        """Load what the next requests need; the index is the one of the command that started this process."""
        with contextlib.suppress(DowseError, ValueError):
            self.warm_up(*_read(description))


def _read(description: str) -> tuple[Path, str, Settings]:
    """Return root, folder and settings of an index, as `resident.py` writes them."""
    try:
        values: dict[str, Any] = json.loads(description)
        root, folder = Path(values.pop("root")), str(values["index_dir"])
        return root, folder, load_settings(root, **values)
    except (KeyError, TypeError) as error:
        raise ValueError(str(error)) from None
