"""The resident process: left behind by a search, it answers the next ones of its user, in any repository.

One for each user and cache folder, which a lock makes sure of. It opens indexes as they are asked for, reads
settings anew for every command, and has a worker at low priority finish what searches leave: the call graph,
vectors, what is learnt from commits. It may be killed at any moment: the client then runs the command.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import threading

from dowse.errors import DowseError, IndexLocked
from dowse.interfaces.daemon.client import FINISH, ask
from dowse.interfaces.daemon.resident import lock_folder
from dowse.process_memory import prepare_for_long_life
from dowse.runtime_paths import make_runtime_folder
from dowse.write_lock import write_lock

# Memory at which the process ends: the next search starts a smaller one.
_MAX_BYTES = 1 << 30
# A request that takes so long hangs: searches for patterns end after a minute, updates are small ones.
_HANG_SECONDS = 180.0
# How often the process looks whether it is to end.
_POLL_SECONDS = 2.0
# How long to wait for a process before this one that is about to end.
_LOCK_SECONDS = 10.0


def main() -> None:
    """Answer commands until nobody has asked for a while."""
    prepare_for_long_life()
    arguments = json.loads(sys.argv[1])
    searched, unfinished = arguments["searched"], arguments["unfinished"]
    # Nobody reads an error: the cache folder can't be written to, or sockets are impossible.
    with contextlib.suppress(DowseError, OSError):
        try:
            make_runtime_folder()
            with write_lock(lock_folder(), _LOCK_SECONDS, lambda _: None):
                _serve(searched, unfinished)
        except IndexLocked:  # another process was first
            if unfinished:
                ask(FINISH, [each.encode() for each in unfinished])


def _serve(searched: str, unfinished: list[str]) -> None:
    from dowse.interfaces.daemon.open_indexes import OpenIndexes
    from dowse.interfaces.daemon.server import CommandServer
    from dowse.watch import Maintainer
    from dowse.workers.child import IDLE

    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: stopping.set())
    maintainer = Maintainer(niceness=IDLE)
    indexes = OpenIndexes(maintainer)
    server = CommandServer(indexes, stopping.set, _HANG_SECONDS)
    idle_seconds = 60.0 * json.loads(searched)["resident_minutes"]
    try:
        server.start()
        for each in unfinished:
            indexes.take(each)
        indexes.begin(searched)
        while not stopping.wait(min(_POLL_SECONDS, idle_seconds)):
            if maintainer.is_idle and server.idle_seconds > idle_seconds:
                break
            # Of another version or environment: the next search leaves one that suits.
            if server.is_unsuitable or indexes.is_switched_off or not server.has_socket():
                break
            if _peak_bytes() > _MAX_BYTES:
                break
    finally:
        server.stop()
        maintainer.close()


def _peak_bytes() -> int:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
