"""The server of the daemon: a Unix socket for every index that a process has open, for its owner alone."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import logging
import os
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from dowse.interfaces.daemon.frames import (
    ACCEPTED,
    DECLINED,
    MAX_REQUEST_BYTES,
    environment_key,
    pack,
    protocol_version,
    unpack,
)
from dowse.runtime_paths import digest, make_runtime_folder, socket_address

if TYPE_CHECKING:
    from dowse.index import Index
    from dowse.interfaces.daemon.command import IndexSource
    from dowse.watch import Watcher

# Connections that wait to be accepted.
_BACKLOG = 64
# Requests handled at once; more would only wait for each other.
_MAX_CONCURRENT = 8
# A request is short and is sent at once.
_READ_SECONDS = 2.0
# How often to check whether another process still serves an index.
_TAKE_OVER_SECONDS = 2.0
# Pause after a connection could not be accepted.
_RETRY_SECONDS = 0.2
# Standard error, which is nothing in a process that ends when it hangs.
_NO_TRACEBACK = 2
_log = logging.getLogger("dowse.interfaces.daemon")


class DaemonServer:
    """Runs commands for some indexes until it is stopped.

    Where sockets are impossible (a path too long, a system without them) nothing is served, and commands work
    as without: this is a convenience, and never an error.
    """

    def __init__(
        self,
        indexes: Sequence[Index] = (),
        watchers: Sequence[Watcher] = (),
        hang_seconds: float | None = None,
    ) -> None:
        """Prepare to serve; nothing happens before `start`.

        Args:
            indexes: The indexes that commands may use.
            watchers: The watchers of some of them: then commands need not look for changed files.
            hang_seconds: End this process if a request takes so long, for the client to run it; None never.
        """
        self._indexes, self._watchers = list(indexes), {id(each.index): each for each in watchers}
        self._sockets: list[tuple[socket.socket, str, os.stat_result]] = []
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._slots = threading.Semaphore(_MAX_CONCURRENT)
        self._environment_key = b""
        self._hang_seconds = hang_seconds
        self._running, self._last_request = 0, time.monotonic()
        self.is_unsuitable = False  # whether a request came from another version or environment

    def start(self) -> None:
        """Listen; returns at once."""
        self._environment_key = environment_key(dict(os.environb)) if os.name == "posix" else b""
        for index in self._indexes:
            self.add(index, self._watchers.get(id(index)))

    def add(self, index: Index, watcher: Watcher | None = None) -> None:
        """Serve another index too, after `start`."""
        if os.name != "posix" or index.is_shared:
            return
        from dowse.interfaces.daemon.command import ServedIndex

        name = f"{digest(str(index.root))}-{digest(index.backend.address)}.sock"
        self.serve(name, ServedIndex(index, watcher.settle if watcher else None))
        threading.Thread(target=warm_up, args=(index,)).start()

    def serve(self, name: str, source: IndexSource) -> None:
        """Listen at a socket of the runtime folder, after `start`; commands use the indexes of a source."""
        from dowse.interfaces.daemon.command import route_streams

        route_streams()
        threading.Thread(target=self._serve, args=(name, source), name="dowse-daemon", daemon=True).start()

    @property
    def idle_seconds(self) -> float:
        """How long no request has been running; 0 while one is."""
        with self._lock:
            return 0.0 if self._running else time.monotonic() - self._last_request

    def stop(self) -> None:
        """Close the sockets, and remove them where they are still ours."""
        self._stopping.set()
        with self._lock:
            sockets, self._sockets = self._sockets, []
        for listener, path, known in sockets:
            with contextlib.suppress(OSError):
                if os.path.samestat(os.lstat(path), known):
                    os.unlink(path)  # noqa: PTH108
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def _listen(self, name: str) -> socket.socket | None:
        """Listen at a socket of the runtime folder; None while another process does."""
        path = os.path.join(make_runtime_folder(), name)
        if _has_listener(path):
            return None
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        temporary = f"{path[:-5]}.{os.getpid()}"
        try:
            with _socket_address(temporary) as address:
                listener.bind(address)
            os.chmod(temporary, 0o600)  # noqa: PTH101
            listener.listen(_BACKLOG)
            os.replace(temporary, path)  # noqa: PTH105 - no client finds a socket that does not listen yet
        except OSError:
            listener.close()
            raise
        with self._lock:
            self._sockets.append((listener, path, os.lstat(path)))
        if self._stopping.is_set():
            self.stop()
        return listener

    def _serve(self, name: str, source: IndexSource) -> None:
        """Listen as soon as no other process does, then handle connections until the socket is closed."""
        try:
            while (listener := self._listen(name)) is None:
                if self._stopping.wait(_TAKE_OVER_SECONDS):
                    return
        except OSError as error:
            _log.debug("no daemon at %s: %s", name, error)
            return
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:  # closed; or too many files are open, which passes
                if self._stopping.wait(_RETRY_SECONDS):
                    return
                continue
            threading.Thread(target=self._handle, args=(connection, source), daemon=True).start()

    def _handle(self, connection: socket.socket, source: IndexSource) -> None:
        """Respond to one request; a client that gets no whole response runs the command itself."""
        from dowse.interfaces.daemon.command import Declined

        with connection, self._slots, self._counted(), contextlib.suppress(OSError):
            accepted = False

            def accept() -> None:
                nonlocal accepted
                accepted = True
                try:
                    connection.sendall(ACCEPTED)
                except OSError:  # the client is gone: no error of the command, which would report it
                    raise Declined from None

            try:
                connection.settimeout(_READ_SECONDS)
                parts = self._respond(connection, source, accept)
                connection.settimeout(None)
                connection.sendall(pack(parts))
            except (Declined, ValueError):
                if not accepted:
                    connection.sendall(DECLINED)
            except OSError:
                raise  # the client is gone
            except Exception:
                _log.exception("a command failed in the daemon; the client runs it")

    def _respond(
        self, connection: socket.socket, source: IndexSource, accept: Callable[[], None]
    ) -> list[bytes]:
        from dowse.interfaces.daemon.command import CommandRequest, Declined, run_command

        if not _is_same_user(connection):
            raise Declined
        version, folder, terminals, key, *fields = unpack(_read_request(connection))
        if version != protocol_version() or key != self._environment_key:
            self.is_unsuitable = True
            raise Declined
        return run_command(CommandRequest.from_parts(folder, terminals, fields), source, accept)

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        """Count a request while it runs; one that hangs ends the process, if there is a limit."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        with self._lock:
            self._running += change
            self._last_request = time.monotonic()
            if self._hang_seconds is None:
                return
            # A thread of native code, which goes on where the interpreter's lock is held.
            if self._running:
                faulthandler.dump_traceback_later(self._hang_seconds, exit=True, file=_NO_TRACEBACK)
            else:
                faulthandler.cancel_dump_traceback_later()


def warm_up(index: Index) -> None:
    """Load what the first request would have to wait for."""
    with contextlib.suppress(Exception):  # whatever it is, the first request reports it
        if index.exists:
            from dowse.interfaces.cli.main import load_command
            from dowse.interfaces.daemon.client import COMMANDS

            for command in COMMANDS:
                load_command(command)
            index.search("get ready", k=1, feedback=False)
    # What is loaded by now stays: looking through it for cycles took a third of a request's time.
    gc.collect()
    gc.freeze()


@contextlib.contextmanager
def _socket_address(path: str) -> Iterator[str]:
    """Give the address of a socket at a path."""
    address, handle = socket_address(path)
    try:
        yield address
    finally:
        if handle >= 0:
            os.close(handle)


def _read_request(connection: socket.socket) -> bytes:
    """Read one message."""
    with connection.makefile("rb") as stream:
        length = int.from_bytes(stream.read(4), "big")
        if length > MAX_REQUEST_BYTES:
            raise ValueError("too long for a request")
        body = stream.read(length)
    if len(body) < length:
        raise ValueError("cut short")
    return body


def _is_same_user(connection: socket.socket) -> bool:
    """Whether the client is the same user; systems that do not tell rely on the folder's permissions."""
    if not sys.platform.startswith("linux"):
        return True
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return bool(struct.unpack("3i", credentials)[1] == os.getuid())


def _has_listener(path: str) -> bool:
    """Whether a process listens at a path."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(0.2)
        try:
            with _socket_address(path) as address:
                connection.connect(address)
        except OSError:
            return False
    return True
