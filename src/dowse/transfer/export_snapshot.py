"""Export an index, or one source of a cluster, to one file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.errors import DowseError
from dowse.indexing.update import Progress
from dowse.storage.local.catalog import FORMAT_VERSION
from dowse.transfer.checks import PATH_PARTS
from dowse.transfer.content import Content, EncoderVectors, open_content
from dowse.transfer.frames import FILES, FORMAT, HEADER, VECTORS, FrameWriter, encode_vector_frame
from dowse.transfer.records import record_to_json
from dowse.types import FileRecord
from dowse.version import __version__

if TYPE_CHECKING:
    from dowse.storage.protocol import Backend

# Text of the files in one frame, about: enough to compress well.
_FRAME_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class TransferReport:
    """What was exported or imported."""

    source: str
    files: int
    symbols: int
    vectors: Mapping[str, int]  # by encoder
    bytes: int  # of the file
    seconds: float
    generation: int = 0  # of the index that it was imported into


def export(
    backend: Backend, path: Path, *, on_progress: Callable[[Progress], None] = lambda _: None
) -> TransferReport:
    """Write the source of a backend to a file, which appears when it is complete."""
    started = time.monotonic()
    files = symbols = 0
    with open_content(backend) as content, FrameWriter(path) as out:
        out.put_json(HEADER, _header(content))
        for batch in _batches(content.records()):
            out.put_json(FILES, [record_to_json(record) for record in batch])
            files, symbols = files + len(batch), symbols + sum(len(record.symbols) for record in batch)
            on_progress(Progress(files, max(files, int(content.counts["files"]))))
        if (files, symbols) != (content.counts["files"], content.counts["symbols"]):
            raise DowseError(f"{content.source} was changed while it was read; run the same again")
        vectors = {each.encoder: _put_vectors(out, each) for each in content.vectors}
    size, seconds = path.stat().st_size, time.monotonic() - started
    return TransferReport(content.source, files, symbols, vectors, size, seconds)


def _header(content: Content) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "records": FORMAT_VERSION,
        "dowse": __version__,
        "slot": content.source,
        "meta": dict(content.meta),
        "skipped": [list(each) for each in content.skipped],
        "files": int(content.counts["files"]),
        "encoders": {each.encoder: each.dimension for each in content.vectors},
    }


def _batches(records: Iterator[FileRecord]) -> Iterator[list[FileRecord]]:
    """Yield files in batches, so that each frame holds a few megabytes."""
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


def _put_vectors(out: FrameWriter, vectors: EncoderVectors) -> int:
    """Write the vectors of one encoder; return how many they are."""
    count = 0
    for keys, codes in vectors.batches():
        out.put(VECTORS, encode_vector_frame(vectors.encoder, keys, codes))
        count += len(keys)
    return count
