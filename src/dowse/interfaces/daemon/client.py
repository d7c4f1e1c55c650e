"""The client of the resident process: have a command run by it, if there is one.

Imports are what a short command spends its time on, so here are next to none; `_socket` is what `socket` is
made of, without the 3 ms that its constants take.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # that of `typing` would be an import
if TYPE_CHECKING:
    import _socket

# Commands that a daemon may run: those that only read.
COMMANDS = frozenset(
    """search diff-search symbols related callers callees uses implementers subclasses impact path""".split()
)
NO_DAEMON = "--no-daemon"
# What can be asked: to run a command, to finish an index, to end.
RUN, FINISH, STOP = b"run", b"finish", b"stop"
# The socket of the one resident process of a user, in the runtime folder.
SOCKET = "resident.sock"
# A daemon that does not accept a connection so quickly is dead or busy.
_CONNECT_SECONDS = 0.05
# It says at once whether it accepts a command; the command itself may take any time.
_ACCEPT_SECONDS = 1.0
# How often to look whether a process that works on a command was stopped.
_LOOK_SECONDS = 1.0


def run_in_daemon(arguments: list[str]) -> int | None:
    """Have a daemon run a command, write its output and return its exit code; None if there is no daemon."""
    if not arguments or arguments[0] not in COMMANDS or NO_DAEMON in arguments or os.name != "posix":
        return None
    if not _is_plain_utf8():
        return None
    try:
        parts = ask(RUN, _command_fields(arguments))
        return None if parts is None else _write(parts)
    except OSError:  # also a full disk: the command itself says so
        return None
    except KeyboardInterrupt:
        os.write(2, b"dowse: interrupted; what was finished before is kept\n")
        return 130


def _is_plain_utf8() -> bool:
    """Whether standard output takes text as the daemon encodes it."""
    out = sys.stdout
    return out is not None and out.encoding.lower() == "utf-8" and out.errors in ("strict", "surrogateescape")


def ask(verb: bytes, fields: list[bytes], seconds: float = _ACCEPT_SECONDS) -> list[bytes] | None:
    """Return the parts of the resident process's response; None if there is none, or it declines.

    Args:
        verb: What is asked for.
        fields: Its arguments.
        seconds: How long to wait until the process accepts it.
    """
    from dowse.runtime_paths import is_private, runtime_folder, socket_address

    folder = runtime_folder()
    path = os.path.join(folder, SOCKET)
    if os.name != "posix" or not os.path.exists(path) or not is_private(folder):  # noqa: PTH110
        return None
    import _socket

    from dowse.interfaces.daemon.frames import ACCEPTED, environment_key, pack, protocol_version

    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    handle = -1
    try:
        address, handle = socket_address(path)
        connection.settimeout(_CONNECT_SECONDS)
        connection.connect(address)
        connection.settimeout(seconds)
        connection.sendall(pack([verb, protocol_version(), environment_key(dict(os.environb)), *fields]))
        if connection.recv(1) != ACCEPTED:
            return None
        return _response_parts(connection)
    except (OSError, ValueError):
        return None
    finally:
        connection.close()
        if handle >= 0:
            os.close(handle)


def _command_fields(arguments: list[str]) -> list[bytes]:
    from dowse.interfaces.daemon.frames import DISPLAY_VARIABLES

    display = [os.environb.get(name.encode(), b"") for name in DISPLAY_VARIABLES]
    terminals = b"".join(b"1" if os.isatty(handle) else b"0" for handle in (1, 2))
    return [os.getcwdb(), terminals, *display, *(os.fsencode(each) for each in arguments)]  # noqa: PTH109


def _response_parts(connection: _socket.socket) -> list[bytes]:
    """Read a response to its end; raises ValueError if it was cut short, OSError if it can't come."""
    from dowse.interfaces.daemon.frames import EXIT, unpack

    chunks: list[bytes] = []
    connection.settimeout(_LOOK_SECONDS)
    while True:
        try:
            chunk = connection.recv(1 << 16)
        except TimeoutError:
            if _is_stopped(connection):
                raise
            continue
        if not chunk:
            break
        chunks.append(chunk)
    parts = unpack(b"".join(chunks)[4:])
    if not parts or not parts[-1].startswith(EXIT):
        raise ValueError("cut short")
    return parts


def _is_stopped(connection: _socket.socket) -> bool:
    """Whether the process at the other end was stopped (SIGSTOP), as far as the system tells."""
    if not sys.platform.startswith("linux"):
        return False
    import _socket

    peer = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    with open(f"/proc/{int.from_bytes(peer[:4], sys.byteorder)}/stat", "rb") as file:
        return file.read().rpartition(b") ")[2][:1] in (b"T", b"t")


def _write(parts: list[bytes]) -> int:
    """Write a response to standard output and error, and return the exit code."""
    from dowse.interfaces.daemon.frames import OUTPUT

    for part in parts[:-1]:
        handle, data = 1 if part.startswith(OUTPUT) else 2, part[1:]
        try:
            while data:
                data = data[os.write(handle, data) :]
        except BrokenPipeError:  # the reader of our output has seen enough (`| head`)
            return 0
    return int(parts[-1][1:])
