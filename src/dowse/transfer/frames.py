"""The file of a snapshot: frames, each with its length and checksum, and an end that proves it whole.

    magic     8 bytes
    frame     kind (4 letters), bytes stored, bytes unpacked, CRC-32 of what is stored; then what is stored
    …
    frame     `ends`: how many frames there were, and a hash over all of them

Frames are made and read one at a time, so a snapshot may be larger than memory. Nothing in it is ever run:
it is JSON, and plain bytes.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple

from dowse.errors import DowseError

MAGIC = b"dowse\x1asn"
# Raised whenever frames are written in another way.
FORMAT = 1
_HEAD = struct.Struct("<4sIII")
_END = b"ends"
# A frame never has more: whoever claims so did not write it.
_MOST_BYTES = 1 << 30
# Text shrinks to a quarter; more effort gives a few percent and takes twice as long.
_LEVEL = 5
_TEMPORARY = ".part"


class Frame(NamedTuple):
    """One piece of a snapshot."""

    kind: bytes
    data: bytes

    def json(self) -> Any:  # noqa: ANN401 - what was written
        """Return what the frame says."""
        return json.loads(self.data)


class BrokenSnapshot(DowseError):
    """A file that is no snapshot, or not all of one."""


class FrameWriter:
    """Writes a snapshot under another name, which becomes its own when all of it is on the disk."""

    def __init__(self, path: Path) -> None:
        self._path, self._temporary = path, path.with_name(f"{path.name}.{os.getpid()}{_TEMPORARY}")
        self._hash = hashlib.blake2b(digest_size=32)
        self._frames = 0
        self._file: IO[bytes]

    def __enter__(self) -> FrameWriter:
        self._file = open(self._temporary, "wb")
        self._file.write(MAGIC)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            self._file.close()
            with contextlib.suppress(FileNotFoundError):
                self._temporary.unlink()

    def put(self, kind: bytes, data: bytes) -> None:
        """Add a frame."""
        stored = zlib.compress(data, _LEVEL)
        head = _HEAD.pack(kind, len(stored), len(data), zlib.crc32(stored))
        self._hash.update(head)
        self._frames += 1
        self._file.write(head)
        self._file.write(stored)

    def put_json(self, kind: bytes, value: object) -> None:
        """Add a frame that holds plain data."""
        self.put(kind, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())

    def _finish(self) -> None:
        self.put_json(_END, {"frames": self._frames, "hash": self._hash.hexdigest()})
        self._file.flush()
        os.fsync(self._file.fileno())
        self._temporary.replace(self._path)


def read_frames(path: Path) -> Iterator[Frame]:
    """Give the frames of a snapshot, each checked; raises at the end if there is not all of it."""
    known, frames = hashlib.blake2b(digest_size=32), 0
    with open(path, "rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise BrokenSnapshot(f"{path} is no snapshot of dowse; `dowse export` writes one")
        while True:
            head = file.read(_HEAD.size)
            if len(head) < _HEAD.size:
                raise _cut_short(path)
            frame = _read(path, file, head)
            if frame.kind == _END:
                break
            known.update(head)
            frames += 1
            yield frame
        if frame.json() != {"frames": frames, "hash": known.hexdigest()} or file.read(1):
            raise _damaged(path, file.tell())


def verify(path: Path) -> None:
    """Read a snapshot from end to end; raises if it is not whole."""
    for _ in read_frames(path):
        continue


def _read(path: Path, file: IO[bytes], head: bytes) -> Frame:
    kind, length, unpacked, checksum = _HEAD.unpack(head)
    at = file.tell()
    if max(length, unpacked) > _MOST_BYTES:
        raise _damaged(path, at)
    stored = file.read(length)
    if len(stored) < length:
        raise _cut_short(path)
    if zlib.crc32(stored) != checksum:
        raise _damaged(path, at)
    try:
        data = zlib.decompressobj().decompress(stored, unpacked + 1)
    except zlib.error as error:
        raise _damaged(path, at) from error
    if len(data) != unpacked:
        raise _damaged(path, at)
    return Frame(kind, data)


def _cut_short(path: Path) -> BrokenSnapshot:
    return BrokenSnapshot(f"{path} is cut short; copy it again, or write it again with `dowse export`")


def _damaged(path: Path, at: int) -> BrokenSnapshot:
    return BrokenSnapshot(
        f"{path} is damaged at byte {at:,}; copy it again, or write it again with `dowse export`"
    )
