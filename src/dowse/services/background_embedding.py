"""A process that goes on after a command has answered; one for each index, at low priority.

It makes approximate vectors of a large tree, builds the call graph if that was deferred, then embeds. When
all is embedded, another one learns from the history of the repository (`dowse.indexing.learn`).

It belongs to no terminal and outlives the command. The lock of `EmbeddingFolder` keeps a second one away, the
write lock of the vectors any other process that embeds. It may be killed at any moment: each chunk is an
atomic commit, and the next search starts another process.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.config import Settings, cache_folder
from dowse.encoders.model_files import is_shipped
from dowse.errors import DowseError
from dowse.index import Index
from dowse.security.safe_files import make_private_directory
from dowse.storage.open import open_backend
from dowse.vectors.embedding_progress import EMBEDDING, LEARNING, EmbeddingFolder, EmbeddingProgress
from dowse.workers.child import lower_priority
from dowse.workers.detached import can_detach, spawn_detached
from dowse.write_lock import write_lock

if TYPE_CHECKING:
    from dowse.indexing.update import Progress

# Whatever the user does meanwhile comes first.
_NICENESS = 15
# Symbols between two commits: about a second of work at low priority.
_CHUNK = 128
# Who only looks whether a lock is held has it for an instant.
_LOCK_SECONDS = 1.0
# How often the process looks whether it is to end.
_POLL_SECONDS = 0.1
# What linking and embedding depend on; a command line is no place for the others.
_SETTINGS = ("encoder", "view", "vectors", "device", "threads", "adapter", "processes")


def start_embedding(index: Index, rate: float = 0.0) -> bool:
    """Start a process that links and embeds what is not yet, unless one runs; whether one does then.

    Args:
        index: An index in a folder.
        rate: Symbols per second, if that was measured just before.
    """
    missing = index.unembedded()
    return bool(missing or not index.is_linked) and _start(
        index, EMBEDDING, EmbeddingProgress(0, missing, rate)
    )


def start_learning(index: Index) -> bool:
    """Start a process that learns from new commits, unless one runs; whether one does then.

    It waits for the vectors: they are what commits lead to.
    """
    return (
        index.settings.background_embedding
        and index.has_new_history()
        and not index.unembedded()
        and _start(index, LEARNING, EmbeddingProgress(0, 0, 0.0))
    )


def _start(index: Index, task: str, expected: EmbeddingProgress) -> bool:
    with index.backend.reader() as reader:
        derived = reader.cache_folder
    if derived is None or not can_detach():
        return False
    folder = EmbeddingFolder(derived, task)
    if folder.progress() is not None:
        return True
    try:
        folder.request(expected)
        spawn_detached(
            "dowse.services.background_embedding",
            _arguments(index, task),
            {**os.environ, "DOWSE_CACHE_DIR": str(cache_folder().absolute())},
        )
    except (OSError, DowseError, NotImplementedError):  # a read-only or full disk, no more processes
        folder.remove_request()
        return False
    return True


def main() -> None:
    """Embed all symbols of the index that the first argument describes, or learn from its history."""
    lower_priority(_NICENESS)
    arguments = json.loads(sys.argv[1])
    root, address = Path(arguments["root"]), arguments["address"]
    settings = replace(Settings(), **arguments["settings"])
    # Nobody reads an error: the disk is full, the index is gone, or another process embeds.
    with (
        contextlib.suppress(DowseError, OSError),
        Index(root, settings, open_backend(address, root)) as index,
    ):
        with index.backend.reader() as reader:
            derived = reader.cache_folder
        folder = EmbeddingFolder(derived, arguments["task"]) if derived is not None else None
        if folder is not None and folder.is_requested():
            _run(index, folder, _learn if arguments["task"] == LEARNING else _embed)


def _run(index: Index, folder: EmbeddingFolder, task: Callable[[Index, EmbeddingFolder], None]) -> None:
    with write_lock(folder.path, _LOCK_SECONDS, lambda _: None):
        if expected := folder.progress():
            folder.report(expected)
        threading.Thread(target=_exit_when_removed, args=(folder,), daemon=True).start()
        try:
            task(index, folder)
        finally:
            folder.remove_request()


def _embed(index: Index, folder: EmbeddingFolder) -> None:
    if index.encoder is not None:
        index.embed_approximately()  # takes seconds, the graph of a large tree minutes
    with contextlib.suppress(DowseError):  # another process writes the index, and builds the graph
        index.link(wait=_LOCK_SECONDS)
    if index.encoder is None:
        return
    # Again while symbols are added: those of the last moment have no vector at the end of a run.
    while index.embed(wait=_LOCK_SECONDS, chunk=_CHUNK, on_progress=_reporter(folder)).missing:
        pass
    start_learning(index)


def _learn(index: Index, folder: EmbeddingFolder) -> None:
    with tempfile.TemporaryDirectory(dir=_emptied(folder.path / "git")) as name:
        tempfile.tempdir = name  # git's private folder: whoever kills this process leaves it to the next one
        index.learn()


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    make_private_directory(folder)
    return folder


def _exit_when_removed(folder: EmbeddingFolder) -> None:
    """End this process, whatever it is doing, when the request or the index is removed."""
    while folder.is_requested():
        time.sleep(_POLL_SECONDS)
    os._exit(0)


def _reporter(folder: EmbeddingFolder) -> Callable[[Progress], None]:
    """Return a function that writes how far the process is."""
    started = time.monotonic()

    def report(progress: Progress) -> None:
        rate = progress.done / max(1e-3, time.monotonic() - started)
        if folder.is_requested():
            folder.report(EmbeddingProgress(progress.done, progress.total, rate, os.getpid()))

    return report


def _arguments(index: Index, task: str) -> str:
    settings = {name: value for name, value in asdict(index.settings).items() if name in _SETTINGS}
    name = index.settings.encoder
    if name != "none" and not is_shipped(name) and not name.startswith("hf:"):
        settings["encoder"] = str(Path(name).expanduser().absolute())  # the process works in another folder
    # Half of the cores: a laptop should stay cool and quiet.
    settings["threads"] = max(1, index.settings.threads // 2)
    place = {"root": str(index.root), "address": index.backend.address}
    return json.dumps({"task": task, **place, "settings": settings})
