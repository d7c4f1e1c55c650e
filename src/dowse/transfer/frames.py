"""The file format of a snapshot: frames with lengths and checksums, and an end frame that closes it.

    magic     8 bytes
    frame     kind (4 letters), bytes stored, bytes uncompressed, CRC-32 of what is stored; then the payload
    …
    frame     `ends`: how many frames there were, and a hash over the headers of all of them

Frames are written and read one at a time, so a snapshot may be larger than memory. Nothing in it is ever
executed: it is JSON, and plain bytes. A file may come from anybody, so every length is checked before use.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
import time
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from dowse.errors import DowseError
from dowse.security.limited_json import parse_json_limited
from dowse.security.safe_files import NotRegularFile, open_regular_file, open_without_links
from dowse.transfer.checks import ELEMENTS, FRAME_BYTES, FRAMES, VECTORS_IN_FRAME, BrokenSnapshot, Budget

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int8]

MAGIC = b"dowse\x1asn"
# Incremented whenever frames are written in another way.
FORMAT = 1
# Kinds of frames: the header of the snapshot, files with their symbols, vectors, the end.
HEADER, FILES, VECTORS, _END = b"abou", b"file", b"vecs", b"ends"
_FRAME_HEADER = struct.Struct("<4sIII")
_END_BYTES = 1_000
# Data that does not compress grows by a few bytes.
_STORED_BYTES = FRAME_BYTES + FRAME_BYTES // 1_000 + 64
# Text compresses to a quarter; higher levels save a few percent and take twice as long.
_LEVEL = 5
_TEMPORARY = ".part"
_DIGEST_BYTES = 16
# A frame of vectors has a small JSON header (name of the encoder, count), then keys, then one signed byte a
# dimension.
_LENGTH = struct.Struct("<I")
_VECTOR_HEADER_BYTES = 1_000
_REMEDY = "copy it again, or write it again with `dowse export`"


class Frame(NamedTuple):
    """One frame of a snapshot."""

    kind: bytes
    data: bytes
    is_checked: bool = False  # whether the same bytes were read and checked before

    def json(self) -> Any:  # noqa: ANN401 - any JSON
        """Return the parsed payload; raises BrokenSnapshot if it is no JSON, or beyond the limits."""
        if self.is_checked:
            return json.loads(self.data)
        try:
            return parse_json_limited(self.data, max_memory=FRAME_BYTES, max_elements=ELEMENTS)
        except ValueError as error:
            raise BrokenSnapshot(f"a frame can't be read: {str(error)[:100]}") from None


class FrameWriter:
    """Writes a snapshot to a temporary file, which is synced and atomically renamed at the end.

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
                self.put_json(_END, {"frames": self._frames, "hash": self._hash.hexdigest()})
                self._file.flush()
                os.fsync(self._file.fileno())
                self._temporary.replace(self._path)
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
        head = _FRAME_HEADER.pack(kind, len(stored), len(data), zlib.crc32(stored))
        self._hash.update(head)
        self._frames += 1
        self._file.write(head)
        self._file.write(stored)

    def put_json(self, kind: bytes, value: object) -> None:
        """Add a frame of JSON."""
        self.put(kind, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


class SnapshotFile:
    """A snapshot that stays open from the first check to the last byte that is imported.

    It may be read several times. The first reading records a digest of each frame and later ones compare it,
    so nobody can exchange what was checked (TOCTOU), neither the file at the path nor bytes within it.
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
        """Yield the frames, each checked; raises BrokenSnapshot at the end if frames are missing.

        Args:
            kinds: Other kinds are compared with the first reading and not decompressed. None: all kinds.
        """
        headers, digests, budget = hashlib.blake2b(digest_size=32), list[bytes](), Budget(self.size)
        self._file.seek(0)
        if self._file.read(len(MAGIC)) != MAGIC:
            raise BrokenSnapshot(f"{self.path} is no snapshot of dowse; `dowse export` writes one")
        while True:
            head = self._read(_FRAME_HEADER.size)
            kind, length, unpacked, checksum = _FRAME_HEADER.unpack(head)
            offset = self._file.tell()
            stored = self._read_stored(kind, length, unpacked, budget)
            self._compare(digests, head, stored)
            if kind == _END:
                break
            headers.update(head)
            if self._digests is None or kinds is None or kind in kinds:
                if zlib.crc32(stored) != checksum:
                    raise self._damaged(offset)
                yield Frame(kind, self._decompress(stored, unpacked, offset), self._digests is not None)
        end = Frame(_END, self._decompress(stored, unpacked, offset))
        expected = {"frames": len(digests) - 1, "hash": headers.hexdigest()}
        if zlib.crc32(stored) != checksum or end.json() != expected or self._file.read(1):
            raise self._damaged(self._file.tell())
        self._digests = digests

    def _read_stored(self, kind: bytes, length: int, unpacked: int, budget: Budget) -> bytes:
        """Return the compressed bytes of a frame, after a check of its lengths."""
        offset = self._file.tell()
        if length > _STORED_BYTES or unpacked > (_END_BYTES if kind == _END else FRAME_BYTES):
            raise self._damaged(offset)
        if offset + length > self.size:
            raise self._truncated()
        try:
            budget.spend(unpacked)
        except BrokenSnapshot as error:
            raise self.broken(error) from None
        return self._read(length)

    def _compare(self, digests: list[bytes], head: bytes, stored: bytes) -> None:
        """Record the digest of a frame; raises if it differs from that of the first reading."""
        if len(digests) > FRAMES:
            raise self.broken("it has too many frames")
        digests.append(hashlib.blake2b(head + stored, digest_size=_DIGEST_BYTES).digest())
        first = self._digests
        if first is not None and first[len(digests) - 1 : len(digests)] != digests[-1:]:
            raise BrokenSnapshot(f"{self.path} was changed while it was read; run the same again")

    def _decompress(self, stored: bytes, unpacked: int, offset: int) -> bytes:
        try:
            data = zlib.decompressobj().decompress(stored, unpacked + 1)
        except zlib.error as error:
            raise self._damaged(offset) from error
        if len(data) != unpacked:
            raise self._damaged(offset)
        return data

    def _read(self, length: int) -> bytes:
        data = self._file.read(length)
        if len(data) < length:
            raise self._truncated()
        return data

    def _truncated(self) -> BrokenSnapshot:
        return BrokenSnapshot(f"{self.path} is cut short; {_REMEDY}")

    def _damaged(self, offset: int) -> BrokenSnapshot:
        return BrokenSnapshot(f"{self.path} is damaged at byte {offset:,}; {_REMEDY}")

    def broken(self, reason: object) -> BrokenSnapshot:
        """Return the error for a snapshot that is complete, but not written by dowse."""
        return BrokenSnapshot(
            f"{self.path} is not what dowse writes ({reason}); get it again from its source"
        )


def encode_vector_frame(encoder: str, keys: Sequence[bytes], codes: Codes) -> bytes:
    """Return the payload of a frame."""
    header = json.dumps({"encoder": encoder, "count": len(keys)}).encode()
    return _LENGTH.pack(len(header)) + header + b"".join(keys) + codes.tobytes()


def check_vector_frame(data: bytes, dimensions: Mapping[str, int]) -> tuple[str, int, int]:
    """Return encoder, count and the offset of the keys; raises if the payload has another size."""
    from dowse.vectors.keys import KEY_BYTES

    try:
        (length,) = _LENGTH.unpack_from(data)
        if length > _VECTOR_HEADER_BYTES:
            raise ValueError("too long")
        offset = _LENGTH.size + length
        header = parse_json_limited(
            data[_LENGTH.size : offset], max_memory=4 * _VECTOR_HEADER_BYTES, max_elements=10
        )
        encoder, count = header["encoder"], header["count"]
        if type(count) is not int or not 1 <= count <= VECTORS_IN_FRAME:
            raise ValueError("out of range")
        if len(data) != offset + count * (KEY_BYTES + dimensions[encoder]):
            raise ValueError("another size")
    except (struct.error, ValueError, KeyError, TypeError):
        raise BrokenSnapshot("a frame of vectors is not of the size that it says") from None
    return encoder, count, offset


def decode_vector_frame(data: bytes, dimensions: Mapping[str, int]) -> tuple[str, list[bytes], Codes]:
    """Return encoder, keys and codes."""
    import numpy as np

    from dowse.vectors.keys import KEY_BYTES

    encoder, count, offset = check_vector_frame(data, dimensions)
    codes_offset = offset + count * KEY_BYTES
    keys = [data[start : start + KEY_BYTES] for start in range(offset, codes_offset, KEY_BYTES)]
    codes = np.frombuffer(data, np.int8, offset=codes_offset)
    return encoder, keys, codes.reshape(count, dimensions[encoder])
