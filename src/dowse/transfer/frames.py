"""The file of a snapshot: frames, each with its length and checksum, and an end that proves it whole.

    magic     8 bytes
    frame     kind (4 letters), bytes stored, bytes unpacked, CRC-32 of what is stored; then what is stored
    …
    frame     `ends`: how many frames there were, and a hash over all of them

Frames are made and read one at a time, so a snapshot may be larger than memory. Nothing in it is ever run:
it is JSON, and plain bytes. Who wrote a file is not known, so every length in it is checked before use.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
import time
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple

from dowse.errors import DowseError
from dowse.security.limited_json import parse_json_limited
from dowse.security.safe_files import NotRegularFile, open_regular_file, open_without_links
from dowse.transfer.errors import BrokenSnapshot
from dowse.transfer.limits import ELEMENTS, FRAME_BYTES, FRAMES, Budget

MAGIC = b"dowse\x1asn"
# Raised whenever frames are written in another way.
FORMAT = 1
_HEAD = struct.Struct("<4sIII")
_END = b"ends"
_END_BYTES = 1_000
# What does not shrink grows by a few bytes.
_STORED_BYTES = FRAME_BYTES + FRAME_BYTES // 1_000 + 64
# Text shrinks to a quarter; more effort gives a few percent and takes twice as long.
_LEVEL = 5
_TEMPORARY = ".part"
_DIGEST_BYTES = 16


class Frame(NamedTuple):
    """One piece of a snapshot."""

    kind: bytes
    data: bytes
    checked: bool = False  # whether the same bytes were read and checked before

    def json(self) -> Any:  # noqa: ANN401 - any JSON
        """Return the parsed content; raises BrokenSnapshot if it is none, or too much."""
        if self.checked:
            return json.loads(self.data)
        try:
            return parse_json_limited(self.data, max_memory=FRAME_BYTES, max_elements=ELEMENTS)
        except ValueError as error:
            raise BrokenSnapshot(f"a frame can't be read: {str(error)[:100]}") from None


class FrameWriter:
    """Writes a snapshot to a temporary file, which gets its name when all of it is on the disk.

    The temporary file is created exclusively, and renaming replaces a symbolic link at the target: whoever
    can write to the folder can't make us write through a link.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._temporary = path, path.with_name(f"{path.name}.{os.getpid()}{_TEMPORARY}")
        self._hash = hashlib.blake2b(digest_size=32)
        self._frames = 0
        self._file: IO[bytes]

    def __enter__(self) -> FrameWriter:
        self._temporary.unlink(missing_ok=True)
        self._file = os.fdopen(open_without_links(self._temporary, os.O_WRONLY | os.O_EXCL), "wb")
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
        if len(data) > FRAME_BYTES:
            raise DowseError(
                f"a file is too large for a snapshot ({len(data):,} bytes with its symbols, at most "
                f"{FRAME_BYTES:,}); leave it out with `exclude` and index again"
            )
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


class SnapshotFile:
    """A snapshot that stays open from the first check to the last byte that is loaded.

    It may be read several times. The first reading notes a digest of each frame and every later one compares
    it, so nobody can exchange what was checked, neither the file at the path nor bytes within the file.
    """

    def __init__(self, path: Path) -> None:
        """Open the file; raises BrokenSnapshot if it is a FIFO, a device or a directory."""
        self.path, self.opened = path, time.monotonic()
        try:
            handle = open_regular_file(path)
        except NotRegularFile:
            raise BrokenSnapshot(f"{path} is no regular file; name the snapshot itself, not a link") from None
        self._file = os.fdopen(handle, "rb")
        self.size = os.fstat(handle).st_size
        self._digests: list[bytes] | None = None

    def __enter__(self) -> SnapshotFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def frames(self, kinds: Collection[bytes] | None = None) -> Iterator[Frame]:
        """Give the frames, each checked; raises BrokenSnapshot at the end if there is not all of it.

        Args:
            kinds: Others are checked against the first reading and not unpacked. None gives all.
        """
        known, digests, budget = hashlib.blake2b(digest_size=32), list[bytes](), Budget(self.size)
        self._file.seek(0)
        if self._file.read(len(MAGIC)) != MAGIC:
            raise BrokenSnapshot(f"{self.path} is no snapshot of dowse; `dowse export` writes one")
        while True:
            head = self._read(_HEAD.size)
            kind, length, unpacked, checksum = _HEAD.unpack(head)
            at = self._file.tell()
            stored = self._stored(kind, length, unpacked, budget)
            self._compare(digests, head, stored)
            if kind == _END:
                break
            known.update(head)
            if self._digests is None or kinds is None or kind in kinds:
                if zlib.crc32(stored) != checksum:
                    raise self._damaged(at)
                yield Frame(kind, self._unpack(stored, unpacked, at), self._digests is not None)
        end = Frame(_END, self._unpack(stored, unpacked, at))
        told = {"frames": len(digests) - 1, "hash": known.hexdigest()}
        if zlib.crc32(stored) != checksum or end.json() != told or self._file.read(1):
            raise self._damaged(self._file.tell())
        self._digests = digests

    def _stored(self, kind: bytes, length: int, unpacked: int, budget: Budget) -> bytes:
        """Return the compressed bytes of a frame whose lengths are sane."""
        at = self._file.tell()
        if length > _STORED_BYTES or unpacked > (_END_BYTES if kind == _END else FRAME_BYTES):
            raise self._damaged(at)
        if at + length > self.size:
            raise self._cut_short()
        try:
            budget.spend(unpacked)
        except BrokenSnapshot as error:
            raise self.broken(error) from None
        return self._read(length)

    def _compare(self, digests: list[bytes], head: bytes, stored: bytes) -> None:
        """Note the digest of a frame; raises if it is another one than in the first reading."""
        if len(digests) > FRAMES:
            raise self.broken("it has too many frames")
        digests.append(hashlib.blake2b(head + stored, digest_size=_DIGEST_BYTES).digest())
        first = self._digests
        if first is not None and first[len(digests) - 1 : len(digests)] != digests[-1:]:
            raise BrokenSnapshot(f"{self.path} was changed while it was read; run the same again")

    def _unpack(self, stored: bytes, unpacked: int, at: int) -> bytes:
        unpacker = zlib.decompressobj()
        try:
            data = unpacker.decompress(stored, unpacked + 1)
        except zlib.error as error:
            raise self._damaged(at) from error
        if len(data) != unpacked:
            raise self._damaged(at)
        return data

    def _read(self, length: int) -> bytes:
        found = self._file.read(length)
        if len(found) < length:
            raise self._cut_short()
        return found

    def _cut_short(self) -> BrokenSnapshot:
        return BrokenSnapshot(
            f"{self.path} is cut short; copy it again, or write it again with `dowse export`"
        )

    def _damaged(self, at: int) -> BrokenSnapshot:
        return BrokenSnapshot(
            f"{self.path} is damaged at byte {at:,}; copy it again, or write it again with `dowse export`"
        )

    def broken(self, reason: object) -> BrokenSnapshot:
        """Return the error for a snapshot that is whole and still none of ours."""
        return BrokenSnapshot(f"{self.path} is not what dowse writes ({reason}); get it from another place")


def read_frames(path: Path) -> Iterator[Frame]:
    """Give the frames of a snapshot, each checked; raises at the end if there is not all of it."""
    with SnapshotFile(path) as snapshot:
        yield from snapshot.frames()


def verify(path: Path) -> None:
    """Read a snapshot from end to end; raises if it is not whole."""
    for _ in read_frames(path):
        continue
