"""The process that does a watcher's work: one JSON object a line in, one a line out.

It is apart so that searches never wait for it, that the system can give it less to run on, and that it can
be ended at any moment: what is committed stays. It ends by itself when whoever started it does.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dowse.config import Settings
from dowse.errors import DowseError, IndexLocked
from dowse.index import Index
from dowse.indexing.parse_pool import kept_process
from dowse.storage.local.layout import writer_lock
from dowse.storage.open import open_backend
from dowse.watch.commands import Requests
from dowse.watch.update_loop import WatchLoop

# Reports of how far it is, at most so often.
_EVERY_SECONDS = 0.1
# Whether another watcher is gone is asked so often.
_LOCK_SECONDS = 2.0


class _Teller:
    """Writes what happens, a line each."""

    def __init__(self) -> None:
        self._last = 0.0
        self._lock = threading.Lock()

    def say(self, kind: str, **more: object) -> None:
        """Say something; how far it is not too often."""
        now = time.monotonic()
        if kind in ("index", "embed") and more.get("done") != more.get("total"):
            if now - self._last < _EVERY_SECONDS:
                return
            self._last = now
        with self._lock, contextlib.suppress(BrokenPipeError):
            sys.stdout.write(json.dumps({"kind": kind, **more}) + "\n")
            sys.stdout.flush()


def main() -> int:
    """Read what to watch from the first line of the input; watch it until that ends."""
    job = json.loads(sys.stdin.readline())
    requests, teller = Requests(), _Teller()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    signal.signal(signal.SIGTERM, lambda *_: requests.end())
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    with contextlib.suppress(OSError, AttributeError):
        os.nice(job["niceness"])
    try:
        with _opened(job) as index, _only_one(job["lock"], requests, teller), kept_process():
            _load_encoder(index)
            WatchLoop(index, job["poll"], requests, teller.say).run()
    except (DowseError, OSError) as error:
        teller.say("failed", detail=str(error))
        return 1
    return 0


def _opened(job: dict[str, Any]) -> Index:
    settings = Settings(**{**job["settings"], "exclude": tuple(job["settings"]["exclude"])})
    root = Path(job["root"])
    return Index(root, settings, open_backend(job["address"], root))


@contextlib.contextmanager
def _only_one(place: str, requests: Requests, teller: _Teller) -> Iterator[None]:
    """Hold the lock of an index's one watcher; wait while another has it."""
    told = False
    with contextlib.ExitStack() as stack:
        while not requests.ended:
            try:
                stack.enter_context(writer_lock(Path(place), 0.0, lambda _: None))
                break
            except IndexLocked:
                if not told:
                    teller.say("waiting", detail="another dowse watches this index; its turn ends first")
                told = True
            requests.admit()
            for number in requests.answered(meaning=True):
                teller.say("settled", number=number, failed=True)
            select.select([requests.wake], [], [], _LOCK_SECONDS)
        yield


def _load_encoder(index: Index) -> None:
    """Load what encodes before the first file is saved."""
    if index.encoder is not None:
        from dowse.encoders.document import Document

        index.encoder.encode_documents([Document("", "warm", "", "def warm(): pass", "python", "warm.py")])


def _listen(requests: Requests) -> None:
    """Take requests; when there can be no more, end this process and those it started."""
    for line in sys.stdin:
        said = json.loads(line)
        if said.get("end"):
            requests.end()
        else:
            requests.settle(said["settle"], said["meaning"])
    if hasattr(os, "killpg"):
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
