"""Messages between a process and its workers: length-prefixed frames, each a pickle.

Both ends are dowse, so a message is any picklable object; from a process that may have been taken over, it is
one without code (`load_data`). The daemon has a framing of its own
(`interfaces/daemon/frames.py`): its client may not load `pickle`, and reads only bytes.
"""

from __future__ import annotations

import enum
import io
import os
import pickle
import struct
from collections.abc import Callable
from typing import Any

# Far above any lane's answer (100,000 rows with scores take 2 MB); what is larger is a fault.
MAX_BYTES = 64_000_000
_LENGTH = struct.Struct("<Q")
# What a pipe holds on Linux.
_READ_BYTES = 65_536


def _no_wait() -> None:
    """Do not wait: the system call blocks."""


def pack(message: object, max_bytes: int = MAX_BYTES) -> bytes:
    """Return the frame of a message."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    if len(body) > max_bytes:
        raise ValueError(f"a message of {len(body) / 1e6:.0f} MB is too large")
    return _LENGTH.pack(len(body)) + body


def load_data(message: bytes | memoryview) -> Any:  # noqa: ANN401 - any message
    """Return a message that holds our data classes and errors only; raises UnpicklingError for others."""
    return _DataUnpickler(io.BytesIO(message)).load()


class _DataUnpickler(pickle.Unpickler):
    """Finds no function and no class that does anything when it is made."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - any class
        found = super().find_class(module, name) if module.startswith("dowse.") and "." not in name else None
        is_data = isinstance(found, type) and (
            hasattr(found, "__dataclass_fields__") or issubclass(found, tuple | enum.Enum | Exception)
        )
        if not is_data:
            raise pickle.UnpicklingError(f"{module}.{name} is no data")
        return found


def write_frame(handle: int, frame: bytes | memoryview, wait: Callable[[], None] = _no_wait) -> None:
    """Write one frame, or bytes that follow it; `wait` is called whenever a non-blocking pipe is full."""
    left = memoryview(frame)
    while left:
        try:
            left = left[os.write(handle, left) :]
        except BlockingIOError:
            wait()


class FrameReader:
    """Reads frames from a pipe and keeps what was read beyond the end of one; for one thread."""

    def __init__(
        self,
        handle: int,
        max_bytes: int = MAX_BYTES,
        load: Callable[[memoryview], Any] = pickle.loads,
    ) -> None:
        self._handle, self._max_bytes, self._load = handle, max_bytes, load
        self._data = bytearray()

    def read(self, wait: Callable[[], None] = _no_wait) -> Any:  # noqa: ANN401 - any message
        """Return the next message; raises EOFError at the end, ValueError for what is no message.

        `wait` is called before every read; it raises to give up.
        """
        end = self._frame_end()
        while end is None or len(self._data) < end:
            wait()
            more = os.read(self._handle, _READ_BYTES)
            if not more:
                raise EOFError
            self._data += more
            end = end or self._frame_end()
        frame, self._data = self._data, self._data[end:]
        try:
            return self._load(memoryview(frame)[_LENGTH.size : end])
        except Exception as error:  # a class that is not here, a constructor that fails
            raise ValueError(f"a message can't be read: {error!r}") from error

    def read_bytes(self, size: int) -> bytearray:
        """Return so many bytes that follow a message; raises EOFError at the end."""
        data, self._data = self._data[:size], self._data[size:]
        while len(data) < size:
            more = os.read(self._handle, min(size - len(data), _READ_BYTES))
            if not more:
                raise EOFError
            data += more
        return data

    def _frame_end(self) -> int | None:
        """Return where the first frame of the buffer ends; None until its length is known."""
        if len(self._data) < _LENGTH.size:
            return None
        length: int = _LENGTH.unpack_from(self._data)[0]
        if length > self._max_bytes:
            raise ValueError("a message is too large")
        return _LENGTH.size + length
