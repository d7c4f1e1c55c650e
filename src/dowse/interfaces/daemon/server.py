"""The warm side: a socket for every index that a process has open, for its owner alone."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from dowse.interfaces.daemon.frames import (
    ACCEPTED,
    MOST_BYTES,
    REFUSED,
    pack,
    surroundings,
    unpack,
    version,
)
from dowse.runtime_paths import digest, make_runtime_folder, socket_address

if TYPE_CHECKING:
    from dowse.index import Index
    from dowse.interfaces.daemon.command import Warm
    from dowse.watch import Watcher

# Questions that wait to be taken.
_BACKLOG = 64
# Answered at once; more would only wait for each other.
_AT_ONCE = 8
# A question is short and comes at once.
_READ_SECONDS = 2.0
# While another process answers for an index, it is asked so often whether it still does.
_TAKE_OVER_SECONDS = 2.0
# Where no question can be taken at the moment, that is tried again after so long.
_BREATH_SECONDS = 0.2
_log = logging.getLogger("dowse.interfaces.daemon")


class WarmServer:
    """Answers commands for some indexes until it is stopped.

    Where there is no room for sockets (a path too long, a system without them) nothing is served, and
    commands work as without: this is a convenience, and never an error.
    """

    def __init__(self, indexes: Sequence[Index] = (), watchers: Sequence[Watcher] = ()) -> None:
        """Prepare to answer; nothing happens before `start`.

        Args:
            indexes: What to answer from.
            watchers: Those that keep some of them true: then commands need not look for changed files.
        """
        self._indexes, self._watchers = list(indexes), {id(each.index): each for each in watchers}
        self._sockets: list[tuple[socket.socket, str, os.stat_result]] = []
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._room = threading.Semaphore(_AT_ONCE)
        self._surroundings = b""

    def start(self) -> None:
        """Listen; returns at once."""
        self._surroundings = surroundings(dict(os.environb)) if os.name == "posix" else b""
        for index in self._indexes:
            self.add(index, self._watchers.get(id(index)))

    def add(self, index: Index, watcher: Watcher | None = None) -> None:
        """Answer for another index too, after `start`."""
        if os.name != "posix" or index.is_shared:
            return
        from dowse.interfaces.daemon.command import Warm, route_streams

        route_streams()
        warm = Warm(index, watcher.settle if watcher else None)
        threading.Thread(target=self._serve, args=(warm,), name="dowse-warm", daemon=True).start()
        threading.Thread(target=get_ready, args=(index,), daemon=True).start()

    def stop(self) -> None:
        """Let go of the sockets, and remove them where they are still ours."""
        self._stopping.set()
        with self._lock:
            sockets, self._sockets = self._sockets, []
        for listening, path, known in sockets:
            with contextlib.suppress(OSError):
                if os.path.samestat(os.lstat(path), known):
                    os.unlink(path)  # noqa: PTH108
            with contextlib.suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            listening.close()

    def _listen(self, index: Index) -> socket.socket | None:
        """Take the place of an index; None while another process answers there."""
        root, address = digest(str(index.root)), digest(index.backend.address)
        path = os.path.join(make_runtime_folder(), f"{root}-{address}.sock")
        if _answers(path):
            return None
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        aside = f"{path[:-5]}.{os.getpid()}"
        try:
            with _addressed(aside) as address:
                listening.bind(address)
            os.chmod(aside, 0o600)  # noqa: PTH101
            listening.listen(_BACKLOG)
            os.replace(aside, path)  # noqa: PTH105 - nobody meets a socket that does not listen yet
        except OSError:
            listening.close()
            raise
        with self._lock:
            self._sockets.append((listening, path, os.lstat(path)))
        if self._stopping.is_set():
            self.stop()
        return listening

    def _serve(self, warm: Warm) -> None:
        """Listen as soon as nobody else does, then answer until the socket is closed."""
        try:
            while (listening := self._listen(warm.index)) is None:
                if self._stopping.wait(_TAKE_OVER_SECONDS):
                    return
        except OSError as error:
            _log.debug("no warm answers for %s: %s", warm.index.root, error)
            return
        while True:
            try:
                line, _ = listening.accept()
            except OSError:  # closed; or too many files are open, which passes
                if self._stopping.wait(_BREATH_SECONDS):
                    return
                continue
            threading.Thread(target=self._answer, args=(line, warm), daemon=True).start()

    def _answer(self, line: socket.socket, warm: Warm) -> None:
        """Answer one question; whoever gets no whole answer asks itself."""
        from dowse.interfaces.daemon.command import NotMine

        with line, self._room, contextlib.suppress(OSError):
            accepted = False

            def accept() -> None:
                nonlocal accepted
                accepted = True
                try:
                    line.sendall(ACCEPTED)
                except OSError:  # who asked is gone: no error of the command, which would take it for one
                    raise NotMine from None

            try:
                line.settimeout(_READ_SECONDS)
                parts = self._ask(line, warm, accept)
                line.settimeout(None)
                line.sendall(pack(parts))
            except (NotMine, ValueError):
                if not accepted:
                    line.sendall(REFUSED)
            except OSError:
                raise  # the one who asked is gone
            except Exception:
                _log.exception("a question of a command failed; it answers itself")

    def _ask(self, line: socket.socket, warm: Warm, accept: Callable[[], None]) -> list[bytes]:
        from dowse.interfaces.daemon.command import NotMine, Question, run

        if not _is_ours(line):
            raise NotMine
        known, folder, terminals, around, *rest = unpack(_read(line))
        if known != version() or around != self._surroundings:
            raise NotMine
        return run(Question.of(folder, terminals, rest), warm, accept)


@contextlib.contextmanager
def _addressed(path: str) -> Iterator[str]:
    """Give what a socket at a path is called by."""
    address, handle = socket_address(path)
    try:
        yield address
    finally:
        if handle >= 0:
            os.close(handle)


def get_ready(index: Index) -> None:
    """Load what the first question would have to wait for."""
    with contextlib.suppress(Exception):  # whatever it is, whoever asks is told
        if index.exists:
            from dowse.interfaces.cli.main import load_command
            from dowse.interfaces.daemon.client import COMMANDS

            for command in COMMANDS:
                load_command(command)
            index.search("get ready", k=1, feedback=False)


def _read(line: socket.socket) -> bytes:
    """Read one message."""
    length = int.from_bytes(_exactly(line, 4), "big")
    if length > MOST_BYTES:
        raise ValueError("too long for a question")
    return _exactly(line, length)


def _exactly(line: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        more = line.recv(count - len(data))
        if not more:
            raise ValueError("cut short")
        data += more
    return bytes(data)


def _is_ours(line: socket.socket) -> bool:
    """Whether the one at the other end is the same user; where the system does not tell, its folder does."""
    if not sys.platform.startswith("linux"):
        return True
    said = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return bool(struct.unpack("3i", said)[1] == os.getuid())


def _answers(path: str) -> bool:
    """Whether somebody listens at a path."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(0.2)
        try:
            with _addressed(path) as address:
                line.connect(address)
        except OSError:
            return False
    return True
