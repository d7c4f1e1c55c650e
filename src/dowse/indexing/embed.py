"""Encodes the symbols of an index that have no vector; what was encoded before is never encoded again."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from dowse.errors import DowseError
from dowse.indexing.embedding_order import embedding_order
from dowse.indexing.update import Progress
from dowse.lazy_classes import dataclass

if TYPE_CHECKING:
    from dowse.encoders.document import Document
    from dowse.encoders.encoder import Encoder
    from dowse.storage.protocol import Backend, Floats, Reader, VectorWriter
    from dowse.vectors.cache import VectorCache

Chunk = list[tuple[bytes, "Document"]]

# Symbols encoded between two commits: a few seconds of work, which is all that a kill can cost.
CHUNK = 512
# Queries that a large index tunes its approximate search with, and files they are taken from.
_QUERIES, _QUERY_FILES = 300, 1000
# Clusters of similar symbols, for `dowse related`.
CLUSTERS = 50


@dataclass(frozen=True, slots=True)
class EmbedReport:
    """The result of an embedding run."""

    encoder: str
    encoded: int = 0
    reused: int = 0  # found in the cache that all indexes share
    missing: int = 0  # still without a vector, if the run was stopped early
    seconds: float = 0.0


def embed(
    backend: Backend,
    encoder: Encoder,
    cache: VectorCache,
    *,
    method: str = "auto",
    seconds: float | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_wait: Callable[[str], None] = lambda _: None,
    wait: float | None = None,
    chunk: int = CHUNK,
    pause: Callable[[], bool] = lambda: False,
    finish: bool = True,
    root: Path | None = None,
    asked: Collection[str] = (),
) -> EmbedReport:
    """Encode symbols without a vector, chunk by chunk; each chunk is committed, whatever happens after it.

    Args:
        backend: The index.
        encoder: The encoder.
        cache: Vectors of earlier runs, of any index.
        method: How the vectors will be searched: auto, exact or approx.
        seconds: Stop after the first chunk that ends later than this.
        on_progress: Called after every chunk.
        on_wait: Called once with a message if another process holds the vectors.
        wait: Seconds to wait for it; None waits as long as it takes.
        chunk: Symbols between two commits.
        pause: Called after every chunk; True stops the run there.
        finish: Whether to fit what `related` and large indexes need, once nothing is missing.
        root: The tree, whose history tells which files come first; None for any order.
        asked: Paths of files that come before all others.
    """
    started = time.monotonic()
    missing = _MissingVectors(backend, encoder, chunk, root, asked)
    total = missing.count()
    encoded = reused = 0
    # Also if none is missing: the run that encoded the last may have been killed before it could finish.
    if total or missing.symbols:
        with backend.vector_writer(encoder.id, encoder.dimension, wait, on_wait) as writer:
            while symbols := missing.next_chunk(chunk):
                known = _encode(encoder, cache, writer, symbols)
                encoded, reused = encoded + len(symbols) - known, reused + known
                on_progress(Progress(encoded + reused, max(total, encoded + reused), "symbols"))
                if (seconds is not None and time.monotonic() - started > seconds) or pause():
                    break
            if finish and not missing.count():
                writer.finish(CLUSTERS, method, lambda: _sample_queries(backend, encoder))
    return EmbedReport(encoder.id, encoded, reused, missing.count(), time.monotonic() - started)


class _MissingVectors:
    """The symbols of the newest generation that have no vector; a new generation replaces them."""

    def __init__(
        self, backend: Backend, encoder: Encoder, chunk: int, root: Path | None, asked: Collection[str]
    ) -> None:
        self._backend, self._encoder = backend, encoder
        self._chunk, self._root, self._asked = chunk, root, asked
        self._generation = 0
        self.symbols = 0
        self._queue: deque[tuple[int, bytes]] = deque()

    def count(self) -> int:
        """Return how many there are."""
        with self._backend.reader() as reader:
            self._refresh(reader)
        return len(self._queue)

    def next_chunk(self, size: int) -> Chunk:
        """Take some of them, as keys and documents."""
        with self._backend.reader() as reader:
            self._refresh(reader)
            symbols = [self._queue.popleft() for _ in range(min(size, len(self._queue)))]
            documents = reader.documents([row for row, _ in symbols])
        return [(key, document) for (_, key), document in zip(symbols, documents, strict=True)]

    def _refresh(self, reader: Reader) -> None:
        if reader.generation != self._generation:
            self._generation, self.symbols = reader.generation, reader.symbol_count()
            symbols = reader.missing_vectors(self._encoder.id)
            if self._root is not None and len(symbols) > self._chunk:  # else all are committed at once
                symbols = embedding_order(reader, symbols, self._root, self._asked)
            self._queue = deque(symbols)


def _encode(encoder: Encoder, cache: VectorCache, writer: VectorWriter, chunk: Chunk) -> int:
    """Write the vectors of some symbols; return how many were in the cache."""
    import numpy as np

    known = cache.get_many([key for key, _ in chunk])
    uncached = [(key, document) for key, document in chunk if key not in known]
    if uncached:
        vectors = encoder.encode_documents([document for _, document in uncached])
        if not np.isfinite(vectors).all():
            raise DowseError(f"the encoder {encoder.name} gives numbers that are not finite; use another one")
        cache.put_many([key for key, _ in uncached], vectors)
        writer.put([key for key, _ in uncached], vectors)
    if known:
        writer.put(list(known), np.stack(list(known.values())))
    return len(known)


def _sample_queries(backend: Backend, encoder: Encoder) -> Floats:
    """Return query vectors to tune with: of the first sentences in the documentation of symbols, or names."""
    import random

    from dowse.encoders.document import first_sentence

    with backend.reader() as reader:
        files = reader.files()
        sample = random.Random(0).sample(files, min(_QUERY_FILES, len(files)))  # noqa: S311
        rows = reader.rows_of_files([file.file_id for file in sample])
        documents = reader.documents([row.row for row in rows[: 10 * _QUERIES]])
    sentences = dict.fromkeys(first_sentence(document.docs) for document in documents if document.docs)
    names = dict.fromkeys(f"{document.qualifier} {document.name}".strip() for document in documents)
    return encoder.encode_queries([text for text in (*sentences, *names) if text][:_QUERIES])
