"""An index, or one source of a cluster, into one file."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.errors import DowseError
from dowse.indexing.update import Progress
from dowse.storage.local.catalog import FORMAT_VERSION
from dowse.transfer.errors import BrokenSnapshot
from dowse.transfer.frames import FORMAT, FrameWriter
from dowse.transfer.limits import PATH_PARTS, VECTORS_IN_FRAME
from dowse.transfer.records import record_to_json
from dowse.types import FileRecord
from dowse.version import __version__

if TYPE_CHECKING:
    from dowse.storage.protocol import Backend
    from dowse.transfer.content import Content, Encoded

ABOUT, FILES, VECTORS = b"abou", b"file", b"vecs"
# Text of the files that lie in one frame, about: enough to compress well.
_FRAME_BYTES = 4_000_000
LENGTH = struct.Struct("<I")
# What stands before the vectors of a frame: the name of an encoder, and a number.
_HEAD_BYTES = 1_000


@dataclass(frozen=True, slots=True)
class TransferReport:
    """What went into a snapshot, or came out of it."""

    source: str
    files: int
    symbols: int
    vectors: Mapping[str, int]  # by encoder
    bytes: int  # of the file
    seconds: float
    generation: int = 0  # of the index that it was read into


def export(
    backend: Backend, path: Path, *, on_progress: Callable[[Progress], None] = lambda _: None
) -> TransferReport:
    """Write all that a backend holds of its source to a file, which appears when it is whole."""
    started = time.monotonic()
    vectors: dict[str, int] = {}
    files = symbols = 0
    with _content(backend) as content, FrameWriter(path) as out:
        out.put_json(ABOUT, _about(content))
        for batch in _batches(content.records()):
            out.put_json(FILES, [record_to_json(record) for record in batch])
            files, symbols = files + len(batch), symbols + sum(len(record.symbols) for record in batch)
            on_progress(Progress(files, max(files, int(content.counts["files"]))))
        if (files, symbols) != (content.counts["files"], content.counts["symbols"]):
            raise DowseError(
                f"{content.slot} was changed while it was read, for too long; run the same again"
            )
        for encoded in content.encoded:
            vectors[encoded.encoder] = _put_vectors(out, encoded)
    report = TransferReport(content.slot, files, symbols, vectors, path.stat().st_size, 0.0)
    return _timed(report, started)


def _content(backend: Backend) -> AbstractContextManager[Content]:
    from dowse.storage.local.backend import LocalBackend

    if isinstance(backend, LocalBackend):
        from dowse.transfer.read_local import local_content

        return local_content(backend)
    from dowse.storage.elastic.backend import ElasticBackend
    from dowse.transfer.read_elastic import elastic_content

    assert isinstance(backend, ElasticBackend)  # noqa: S101 - there are two kinds
    return elastic_content(backend)


def _about(content: Content) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "records": FORMAT_VERSION,
        "dowse": __version__,
        "slot": content.slot,
        "meta": dict(content.meta),
        "skipped": [list(each) for each in content.skipped],
        "files": int(content.counts["files"]),
        "encoders": {each.encoder: each.dimension for each in content.encoded},
    }


def _batches(records: Iterator[FileRecord]) -> Iterator[list[FileRecord]]:
    """Give files some at a time, so that each frame holds a few megabytes."""
    batch: list[FileRecord] = []
    size = 0
    for record in records:
        if record.path.count("/") >= PATH_PARTS:
            raise DowseError(
                f"{record.path[:80]}… has too many parts for a snapshot (at most {PATH_PARTS}); "
                "leave it out with `exclude` and index again"
            )
        batch.append(record)
        size += record.size + 300 * len(record.symbols)
        if size >= _FRAME_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _put_vectors(out: FrameWriter, encoded: Encoded) -> int:
    count = 0
    for keys, codes in encoded.chunks():
        head = json.dumps({"encoder": encoded.encoder, "count": len(keys)}).encode()
        out.put(VECTORS, LENGTH.pack(len(head)) + head + b"".join(keys) + codes.tobytes())
        count += len(keys)
    return count


def _timed(report: TransferReport, started: float) -> TransferReport:
    from dataclasses import replace

    return replace(report, seconds=time.monotonic() - started)


def vector_head(data: bytes, dimensions: Mapping[str, int]) -> tuple[str, int, int]:
    """Return encoder, count and where the keys of a frame of vectors begin; raises if its size is another."""
    from dowse.security.limited_json import parse_json_limited
    from dowse.vectors.keys import KEY_BYTES

    try:
        (length,) = LENGTH.unpack_from(data)
        if length > _HEAD_BYTES:
            raise ValueError("too long")
        at = LENGTH.size + length
        head = parse_json_limited(data[LENGTH.size : at], max_memory=4 * _HEAD_BYTES, max_elements=10)
        encoder, count = head["encoder"], head["count"]
        if type(count) is not int or not 1 <= count <= VECTORS_IN_FRAME:
            raise ValueError("out of range")
        if len(data) != at + count * (KEY_BYTES + dimensions[encoder]):
            raise ValueError("another size")
    except (struct.error, ValueError, KeyError, TypeError):
        raise BrokenSnapshot("a frame of vectors is not of the size that it says") from None
    return encoder, count, at


def split_vectors(data: bytes, dimensions: Mapping[str, int]) -> tuple[str, Sequence[bytes], Any]:
    """Return encoder, keys and codes of a frame of vectors."""
    import numpy as np

    from dowse.vectors.keys import KEY_BYTES

    encoder, count, at = vector_head(data, dimensions)
    keys = [data[at + n * KEY_BYTES : at + (n + 1) * KEY_BYTES] for n in range(count)]
    codes = np.frombuffer(data, np.int8, offset=at + count * KEY_BYTES)
    return encoder, keys, codes.reshape(count, dimensions[encoder])
