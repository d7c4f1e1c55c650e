"""What systemd asks of a service: to say that it is ready (sd_notify), to take a socket (sd_listen_fds).

Both are a few lines on top of environment variables, so they need no library.
"""

from __future__ import annotations

import contextlib
import os
import socket

from dowse.errors import DowseError

# The first descriptor that a service manager passes on (SD_LISTEN_FDS_START).
_FIRST_DESCRIPTOR = 3


def notify(state: str) -> None:
    """Tell the service manager something, such as `READY=1`, if one wants to know."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    # A manager that is gone, or a full buffer, is no reason to stop serving.
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.setblocking(False)
        sender.sendto(state.encode(), address.replace("@", "\0", 1))


def watchdog_seconds() -> float:
    """Return how long the service manager waits for each `WATCHDOG=1` before it restarts us; 0 for ever."""
    microseconds, pid = os.environ.get("WATCHDOG_USEC", ""), os.environ.get("WATCHDOG_PID", "")
    is_for_us = microseconds.isdecimal() and pid in ("", str(os.getpid()))
    return int(microseconds) / 1e6 if is_for_us else 0.0


def inherited_socket() -> socket.socket | None:
    """Return the listening socket that the service manager opened for this process, if it did.

    Raises:
        DowseError: It is no single TCP socket that listens.
    """
    count, pid = os.environ.pop("LISTEN_FDS", ""), os.environ.pop("LISTEN_PID", "")
    os.environ.pop("LISTEN_FDNAMES", None)  # none of them is for the processes that this one starts
    if pid != str(os.getpid()) or not count.isdecimal():
        return None
    if count != "1":
        raise DowseError(f"{count} sockets were passed on; give the unit one ListenStream=")
    os.set_inheritable(_FIRST_DESCRIPTOR, False)
    try:
        listening = socket.socket(fileno=_FIRST_DESCRIPTOR)
    except OSError as error:
        raise DowseError(f"no socket was passed on ({error.strerror}); look at the socket unit") from error
    is_listening = bool(listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
    if listening.family not in (socket.AF_INET, socket.AF_INET6) or not is_listening:
        listening.close()
        raise DowseError("the socket passed on is not a TCP socket that listens; use ListenStream=HOST:PORT")
    return listening
