"""A snapshot into an index: neither parsed nor encoded again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.config import Settings, cache_folder
from dowse.graph.link import link
from dowse.indexing.update import Progress
from dowse.security.terminal import escape_surrogates
from dowse.security.trust import drop_permissions
from dowse.transfer.export_snapshot import FILES, VECTORS, TransferReport, split_vectors
from dowse.transfer.frames import SnapshotFile
from dowse.transfer.header import About
from dowse.transfer.records import record_from_json
from dowse.transfer.validate import validate

if TYPE_CHECKING:
    from dowse.storage.protocol import Backend, Floats

# Text after which a generation is committed although more is to come, as `dowse index` does it.
_CHUNK = 200_000_000
# Vectors such as will be asked for, where nothing can encode questions: stored ones, turned away by noise
# until their cosine with themselves is this.
_QUESTIONS, _COSINE = 300, 0.5


def read_about(path: Path) -> About:
    """Return what a snapshot says of itself; raises if it is none, or one that this dowse can't read."""
    with SnapshotFile(path) as snapshot:
        return validate(snapshot)


def load(
    path: Path,
    backend: Backend,
    settings: Settings,
    *,
    root: Path | None = None,
    wait: float | None = None,
    on_wait: Callable[[str], None] = lambda _: None,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> TransferReport:
    """Check a snapshot and make a source what it says: see `load_checked`."""
    with SnapshotFile(path) as snapshot:
        about = validate(snapshot)
        return load_checked(
            snapshot,
            about,
            backend,
            settings,
            root=root,
            wait=wait,
            on_wait=on_wait,
            on_progress=on_progress,
        )


def load_checked(
    snapshot: SnapshotFile,
    about: About,
    backend: Backend,
    settings: Settings,
    *,
    root: Path | None = None,
    wait: float | None = None,
    on_wait: Callable[[str], None] = lambda _: None,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> TransferReport:
    """Make a source what a snapshot says; whatever it was before is replaced when all is there.

    Args:
        snapshot: The snapshot; all of it was checked.
        about: What `validate` returned for it.
        backend: Where it goes.
        settings: How vectors will be searched.
        root: The tree or corpus that the index belongs to from now on; None: where it was made.
        wait: Seconds to wait for another writer; None waits as long as it takes.
        on_wait: Called once with a message if another writer holds the index.
        on_progress: Called after every few files.

    Raises:
        DowseError: The index has vectors of one of its encoders with another dimension; nothing was written.
    """
    place = {"root": escape_surrogates(str(root))} if root is not None else {}
    meta = {**drop_permissions(about.meta), **place}
    # Vectors come last: what they would be refused for must be known before anything is written.
    for encoder, dimension in about.encoders.items():
        backend.check_vectors(encoder, dimension)
    files = symbols = 0
    with _vectors_along(snapshot, about, backend), backend.writer(wait, on_wait) as writer:
        gone = set(writer.stamps())
        waiting = 0
        for frame in snapshot.frames([FILES]):
            for value in frame.json():
                record = record_from_json(value, about.is_corpus)
                writer.put(record)
                gone.discard(record.key)
                files, symbols = files + 1, symbols + len(record.symbols)
                waiting += len(record.text)
            on_progress(Progress(files, max(files, about.files)))
            if waiting > _CHUNK:
                writer.commit({**meta, "complete": "0"})
                waiting = 0
        for key in sorted(gone):
            writer.delete(key)
        writer.set_skipped(about.skipped)
        link(writer.graph())
        generation = writer.commit(meta)
    vectors = {
        encoder: _load_vectors(snapshot, about, encoder, backend, settings) for encoder in about.encoders
    }
    size, seconds = snapshot.size, time.monotonic() - snapshot.opened
    return TransferReport(about.slot, files, symbols, vectors, size, seconds, generation)


@contextmanager
def _vectors_along(snapshot: SnapshotFile, about: About, backend: Backend) -> Iterator[None]:
    """Let documents take their vectors along to a cluster: sent afterwards, each would be written twice.

    They go through the machine's own cache, so that a snapshot may be larger than memory. What that does not
    take comes afterwards.
    """
    from dowse.storage.local.backend import LocalBackend

    if isinstance(backend, LocalBackend) or not about.encoders:
        yield
        return
    from dowse.storage.elastic.backend import ElasticBackend
    from dowse.storage.protocol import KnownVectors
    from dowse.vectors.cache import VectorCache

    assert isinstance(backend, ElasticBackend)  # noqa: S101 - there are two kinds
    encoder, dimension = next(iter(about.encoders.items()))
    with VectorCache(cache_folder() / "vectors", encoder, dimension) as cache:
        for keys, vectors in _vectors(snapshot, about, encoder):
            cache.put_many(keys, vectors)
        backend.vectors = KnownVectors(encoder, dimension, cache.get_many)
        yield


def _vectors(snapshot: SnapshotFile, about: About, encoder: str) -> Iterator[tuple[Any, Floats]]:
    from dowse.vectors.quantize import restore, scales_of

    for frame in snapshot.frames([VECTORS]):
        name, keys, codes = split_vectors(frame.data, about.encoders)
        if name == encoder:
            yield keys, restore(codes, scales_of(codes))


def _load_vectors(
    snapshot: SnapshotFile, about: About, encoder: str, backend: Backend, settings: Settings
) -> int:
    import numpy as np

    count, sample = 0, np.empty((0, about.encoders[encoder]), np.float32)
    with backend.vector_writer(encoder, about.encoders[encoder]) as writer:
        for keys, vectors in _vectors(snapshot, about, encoder):
            writer.put(keys, vectors)
            count, sample = count + len(keys), vectors[:_QUESTIONS]
        if count:
            writer.finish(settings.clusters, settings.vectors, lambda: _turned_away(sample))
    return count


def _turned_away(vectors: Floats) -> Floats:
    import numpy as np

    noise = np.random.default_rng(0).standard_normal(vectors.shape).astype(np.float32)
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    mixed: Floats = _COSINE * vectors + (1 - _COSINE**2) ** 0.5 * noise
    mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
    return mixed
