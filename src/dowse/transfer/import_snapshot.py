"""Import a snapshot into an index: nothing is parsed or encoded again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.config import Settings, cache_folder
from dowse.graph.link import link
from dowse.indexing.embed import CLUSTERS
from dowse.indexing.update import Progress
from dowse.security.terminal import escape_surrogates
from dowse.security.trust import drop_permissions
from dowse.transfer.export_snapshot import TransferReport
from dowse.transfer.frames import FILES, VECTORS, SnapshotFile, decode_vector_frame
from dowse.transfer.records import record_from_json
from dowse.transfer.validate import Header

if TYPE_CHECKING:
    from dowse.storage.protocol import Backend, Floats

# Sample queries where nothing can encode real ones: stored vectors with noise, until their cosine with
# themselves is this.
_SAMPLE_QUERIES, _SAMPLE_COSINE = 300, 0.5


def import_snapshot(
    snapshot: SnapshotFile,
    header: Header,
    backend: Backend,
    settings: Settings,
    *,
    root: Path | None = None,
    wait: float | None = None,
    on_wait: Callable[[str], None] = lambda _: None,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> TransferReport:
    """Replace a source by a snapshot, which becomes visible when it is complete.

    Args:
        snapshot: A snapshot from `open_snapshot`: all of it was validated.
        header: Its header.
        backend: The index.
        settings: How vectors will be searched.
        root: The tree or corpus that the index belongs to from now on; None: where it was exported.
        wait: Seconds to wait for another writer; None waits as long as it takes.
        on_wait: Called once with a message if another writer holds the index.
        on_progress: Called after every few files.

    Raises:
        DowseError: The index has vectors of one of its encoders with another dimension; nothing was written.
    """
    meta = drop_permissions(header.meta)
    if root is not None:
        meta = {**meta, "root": escape_surrogates(str(root))}
    # Vectors come last: whether they will be refused must be known before anything is written.
    for encoder, dimension in header.encoders.items():
        backend.check_vectors(encoder, dimension)
    files = symbols = 0
    with _vectors_with_documents(snapshot, header, backend), backend.writer(wait, on_wait) as writer:
        obsolete = set(writer.fingerprints())
        for frame in snapshot.frames([FILES]):
            for value in frame.json():
                record = record_from_json(value, header.is_corpus)
                writer.put(record)
                obsolete.discard(record.key)
                files, symbols = files + 1, symbols + len(record.symbols)
            on_progress(Progress(files, max(files, header.files)))
        for key in sorted(obsolete):
            writer.delete(key)
        writer.set_skipped(header.skipped)
        link(writer.graph())
        generation = writer.commit(meta)
    vectors = {each: _import_vectors(snapshot, header, each, backend, settings) for each in header.encoders}
    seconds = time.monotonic() - snapshot.opened
    return TransferReport(header.source, files, symbols, vectors, snapshot.size, seconds, generation)


@contextmanager
def _vectors_with_documents(snapshot: SnapshotFile, header: Header, backend: Backend) -> Iterator[None]:
    """Send vectors to a cluster along with their documents: sent later, each document is written twice.

    They go through the machine's own cache, so that a snapshot may be larger than memory. What that does not
    take is sent later.
    """
    from dowse.storage.local.backend import LocalBackend

    if isinstance(backend, LocalBackend) or not header.encoders:
        yield
        return
    from dowse.storage.protocol import KnownVectors
    from dowse.vectors.cache import VectorCache

    encoder, dimension = next(iter(header.encoders.items()))
    with VectorCache(cache_folder() / "vectors", encoder, dimension) as cache:
        for keys, vectors in _read_vectors(snapshot, header, encoder):
            cache.put_many(keys, vectors)
        backend.set_known_vectors(KnownVectors(encoder, dimension, cache.get_many))
        yield


def _read_vectors(
    snapshot: SnapshotFile, header: Header, encoder: str
) -> Iterator[tuple[list[bytes], Floats]]:
    from dowse.vectors.quantize import restore, scales_of

    for frame in snapshot.frames([VECTORS]):
        name, keys, codes = decode_vector_frame(frame.data, header.encoders)
        if name == encoder:
            yield keys, restore(codes, scales_of(codes))


def _import_vectors(
    snapshot: SnapshotFile, header: Header, encoder: str, backend: Backend, settings: Settings
) -> int:
    """Add the vectors of one encoder; return how many they are."""
    import numpy as np

    count, sample = 0, np.empty((0, header.encoders[encoder]), np.float32)
    with backend.vector_writer(encoder, header.encoders[encoder]) as writer:
        for keys, vectors in _read_vectors(snapshot, header, encoder):
            writer.put(keys, vectors)
            count, sample = count + len(keys), vectors[:_SAMPLE_QUERIES]
        if count:
            writer.finish(CLUSTERS, settings.vectors, lambda: _add_noise(sample))
    return count


def _add_noise(vectors: Floats) -> Floats:
    import numpy as np

    noise = np.random.default_rng(0).standard_normal(vectors.shape).astype(np.float32)
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    mixed: Floats = _SAMPLE_COSINE * vectors + (1 - _SAMPLE_COSINE**2) ** 0.5 * noise
    mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
    return mixed
