"""Messages between a process and its workers: a length, then a pickle. Strictly question and answer.

There is never more than one message on its way in a direction, so what a read returns is a part of one
message or the whole of it: one system call for most.
"""

from __future__ import annotations

import os
import pickle
import struct
from collections.abc import Callable
from typing import Any

# Far above any lane's answer (100,000 rows with scores take 2 MB); what is larger is a fault.
MAX_BYTES = 64_000_000
_LENGTH = struct.Struct("<Q")
_READ_BYTES = 65_536


def _at_once() -> None:
    """Do not wait: the read or write will."""


def pack(message: object) -> bytes:
    """Return the bytes of a message."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    if len(body) > MAX_BYTES:
        raise ValueError(f"a message of {len(body) / 1e6:.0f} MB is too large")
    return _LENGTH.pack(len(body)) + body


def receive(handle: int, wait: Callable[[], None] = _at_once) -> Any:  # noqa: ANN401 - any message
    """Read one message; raises EOFError where there is none, ValueError where it can't be one.

    `wait` is called before every read, to wait for data no longer than is wanted.
    """
    wait()
    data = bytearray(os.read(handle, _READ_BYTES))
    length = None
    while length is None or len(data) < length:
        if length is None and len(data) >= _LENGTH.size:
            length = _LENGTH.size + _LENGTH.unpack_from(data)[0]
            if length > MAX_BYTES + _LENGTH.size:
                raise ValueError("a message is too large")
            continue
        wait()
        more = os.read(handle, _READ_BYTES)
        if not more:
            raise EOFError
        data += more
    try:
        return pickle.loads(memoryview(data)[_LENGTH.size :])  # noqa: S301 - both ends are ours
    except Exception as error:  # a class that is not here, a constructor that fails
        raise ValueError(f"a message can't be read: {error!r}") from error


def send(handle: int, frame: bytes, wait: Callable[[], None] = _at_once) -> None:
    """Write one message; `wait` is called whenever there is no room for more of it."""
    left = memoryview(frame)
    while left:
        try:
            left = left[os.write(handle, left) :]
        except BlockingIOError:
            wait()
