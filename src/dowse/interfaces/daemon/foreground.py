"""The resident process in the foreground: `dowse watch` answers commands while it runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dowse.errors import DowseError
from dowse.interfaces.daemon.resident import lock_folder, stop_resident
from dowse.write_lock import write_lock

if TYPE_CHECKING:
    from dowse.watch import Maintainer

# Who only looks whether the lock is held has it for an instant.
_LOCK_SECONDS = 1.0


@contextlib.contextmanager
def serve_in_foreground(maintainer: Maintainer) -> Iterator[None]:
    """Answer commands in the place of the resident process, which ends.

    Where another command does that already, or sockets are impossible, nothing is answered here: this is a
    convenience, and never an error.
    """
    from dowse.interfaces.daemon.open_indexes import OpenIndexes
    from dowse.interfaces.daemon.server import CommandServer

    stop_resident()
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(DowseError, OSError):
            stack.enter_context(write_lock(lock_folder(), _LOCK_SECONDS, lambda _: None))
            server = CommandServer(OpenIndexes(maintainer, is_foreground=True))
            stack.callback(server.stop)
            server.start()
        yield
