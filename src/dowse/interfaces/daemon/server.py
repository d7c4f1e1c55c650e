"""The server of the resident process: a Unix socket, for its owner alone."""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import os
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from dowse.interfaces.daemon.client import RUN, SOCKET, STOP
from dowse.interfaces.daemon.command import CommandRequest, Declined, route_streams, run_command
from dowse.interfaces.daemon.frames import (
    ACCEPTED,
    DECLINED,
    EXIT,
    MAX_REQUEST_BYTES,
    environment_key,
    pack,
    protocol_version,
    unpack,
)
from dowse.runtime_paths import make_runtime_folder, socket_address

if TYPE_CHECKING:
    from dowse.interfaces.daemon.open_indexes import OpenIndexes

# Connections that wait to be accepted.
_BACKLOG = 64
# Requests handled at once; more would only wait for each other.
_MAX_CONCURRENT = 8
# A request is short and is sent at once.
_READ_SECONDS = 2.0
# How often to look whether responses have ended.
_POLL_SECONDS = 0.01
# Pause after a connection could not be accepted.
_RETRY_SECONDS = 0.2
# Standard error, which is nothing in a process that ends when it hangs.
_NO_TRACEBACK = 2
_log = logging.getLogger("dowse.interfaces.daemon")


class CommandServer:
    """Runs commands until it is stopped; the process that has one holds the lock of the resident process."""

    def __init__(
        self,
        indexes: OpenIndexes,
        on_stop: Callable[[], None] | None = None,
        hang_seconds: float | None = None,
    ) -> None:
        """Prepare to serve; nothing happens before `start`.

        Args:
            indexes: What commands use.
            on_stop: Called when a client asks for the end; without it, that is declined.
            hang_seconds: End this process if a request takes so long, for the client to run it; None never.
        """
        self._indexes, self._on_stop, self._hang_seconds = indexes, on_stop, hang_seconds
        self._version, self._environment_key = protocol_version(), environment_key(dict(os.environb))
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._path, self._inode = "", 0
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._slots = threading.Semaphore(_MAX_CONCURRENT)
        self._running, self._last_request = 0, time.monotonic()
        self.is_unsuitable = False  # whether a request came from another version or environment

    def start(self) -> None:
        """Listen; returns at once. Raises OSError where sockets are impossible."""
        route_streams()
        path = os.path.join(make_runtime_folder(), SOCKET)
        temporary = f"{path}.{os.getpid()}"
        with _socket_address(temporary) as address:
            self._listener.bind(address)
        os.chmod(temporary, 0o600)  # noqa: PTH101
        self._listener.listen(_BACKLOG)
        self._inode = os.stat(temporary).st_ino  # noqa: PTH116
        os.replace(temporary, path)  # noqa: PTH105 - no client finds a socket that does not listen yet
        self._path = path
        threading.Thread(target=self._serve, name="dowse-daemon", daemon=True).start()

    @property
    def idle_seconds(self) -> float:
        """How long no request has been running; 0 while one is."""
        with self._lock:
            return 0.0 if self._running else time.monotonic() - self._last_request

    def has_socket(self) -> bool:
        """Whether clients can still find the socket: the cache folder may have been removed."""
        try:
            return os.stat(self._path).st_ino == self._inode  # noqa: PTH116
        except OSError:
            return False

    def stop(self) -> None:
        """Close the socket and remove it; responses that have begun get a moment to end."""
        self._stopping.set()
        with contextlib.suppress(OSError):
            if self.has_socket():
                os.unlink(self._path)  # noqa: PTH108
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        until = time.monotonic() + _READ_SECONDS
        while self._running and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)

    def _serve(self) -> None:
        """Handle connections until the socket is closed."""
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # closed; or too many files are open, which passes
                if self._stopping.wait(_RETRY_SECONDS):
                    return
                continue
            threading.Thread(target=self._handle, args=(connection,), daemon=True).start()

    def _handle(self, connection: socket.socket) -> None:
        """Respond to one request; a client that gets no whole response runs the command itself."""
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
                parts = self._respond(connection, accept)
                connection.settimeout(None)
                connection.sendall(pack(parts))
            except (Declined, ValueError):
                if not accepted:
                    connection.sendall(DECLINED)
            except OSError:
                raise  # the client is gone
            except Exception:
                _log.exception("a command failed in the daemon; the client runs it")

    def _respond(self, connection: socket.socket, accept: Callable[[], None]) -> list[bytes]:
        if not _is_same_user(connection):
            raise Declined
        verb, version, key, *fields = unpack(_read_request(connection))
        if verb == STOP and self._on_stop is not None:
            accept()
            self._on_stop()
            return [EXIT + str(os.getpid()).encode()]
        if version != self._version or key != self._environment_key:
            self.is_unsuitable = True
            raise Declined
        if verb == RUN:
            return run_command(CommandRequest.from_fields(fields), self._indexes, accept)
        accept()
        for each in fields:
            self._indexes.take(each.decode())
        return [EXIT + b"0"]

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
