"""Ask a warm process, if there is one: the way of a command that is in a hurry.

Imports are what a short command spends its time on, so here are next to none; `_socket` is what `socket` is
made of, without the 3 ms that its constants take.
"""

from __future__ import annotations

import os
import sys

# Commands that a warm process may answer: those that only ask.
COMMANDS = frozenset(
    """search symbols related callers callees uses implementers subclasses impact path""".split()
)
NO_DAEMON = "--no-daemon"
# Somebody who does not answer the door so quickly is not at home, or busy.
_CONNECT_SECONDS = 0.05
# It says at once whether it can answer; an answer itself may take what it takes.
_ACCEPT_SECONDS = 1.0


def ask(arguments: list[str]) -> int | None:
    """Have a warm process run a command and write what it says; None if there is none that can."""
    if not arguments or arguments[0] not in COMMANDS or NO_DAEMON in arguments or os.name != "posix":
        return None
    try:
        places = _places(arguments)
        if not places or not _writes_plain_text():
            return None
        answer = next((found for place in places if (found := _answer(place, arguments)) is not None), None)
        return None if answer is None else _write(answer)
    except OSError:  # also a full disk: the command itself says so
        return None
    except KeyboardInterrupt:
        os.write(2, b"dowse: interrupted; what was finished before is kept\n")
        return 130


def _places(arguments: list[str]) -> list[str]:
    """Return the sockets of processes that answer for a folder which the command names, or stands in."""
    from dowse.runtime_paths import digest, is_private, runtime_folder

    folder = runtime_folder()
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".sock")]
    except OSError:
        return []
    if not names or not is_private(folder):
        return []
    roots = [".", *(each for each in arguments[1:] if not each.startswith("-"))]
    wanted = {digest(os.path.realpath(root)): None for root in roots}
    return [os.path.join(folder, name) for start in wanted for name in names if name.startswith(start)]


def _writes_plain_text() -> bool:
    """Whether standard output takes text as the warm process writes it."""
    out = sys.stdout
    return out is not None and out.encoding.lower() == "utf-8" and out.errors in ("strict", "surrogateescape")


def _answer(place: str, arguments: list[str]) -> list[bytes] | None:
    """Return the parts of an answer; None if nobody is there, or it is not theirs to give."""
    import _socket

    from dowse.interfaces.daemon.frames import ACCEPTED, pack
    from dowse.runtime_paths import socket_address

    line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    handle = -1
    try:
        address, handle = socket_address(place)
        line.settimeout(_CONNECT_SECONDS)
        line.connect(address)
        line.settimeout(_ACCEPT_SECONDS)
        line.sendall(pack(_question(arguments)))
        if line.recv(1) != ACCEPTED:
            return None
        line.settimeout(None)
        return _parts(line)
    except (OSError, ValueError):
        return None
    finally:
        line.close()
        if handle >= 0:
            os.close(handle)


def _question(arguments: list[str]) -> list[bytes]:
    from dowse.interfaces.daemon.frames import LOOKS, surroundings, version

    environment = os.environb
    looks = [environment.get(name.encode(), b"") for name in LOOKS]
    terminals = b"".join(b"1" if os.isatty(handle) else b"0" for handle in (1, 2))
    return [
        *(version(), os.getcwdb(), terminals),  # noqa: PTH109
        *(surroundings(dict(environment)), *looks),
        *(os.fsencode(each) for each in arguments),
    ]


def _parts(line: object) -> list[bytes]:
    """Read all that is said; raises ValueError if it was cut short."""
    from dowse.interfaces.daemon.frames import EXIT, unpack

    chunks: list[bytes] = []
    while chunk := line.recv(1 << 16):  # type: ignore[attr-defined]
        chunks.append(chunk)
    parts = unpack(b"".join(chunks)[4:])
    if not parts or not parts[-1].startswith(EXIT):
        raise ValueError("cut short")
    return parts


def _write(parts: list[bytes]) -> int:
    """Write an answer where it belongs, and return the exit code."""
    from dowse.interfaces.daemon.frames import OUTPUT

    for part in parts[:-1]:
        try:
            _write_all(1 if part.startswith(OUTPUT) else 2, part[1:])
        except BrokenPipeError:  # the reader of our output has seen enough (`| head`)
            return 0
    return int(parts[-1][1:])


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]
