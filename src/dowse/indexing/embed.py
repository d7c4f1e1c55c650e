"""Fill in the vectors that the symbols of an index lack; what was encoded before is never encoded again."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dowse.errors import DowseError
from dowse.indexing.update import Progress

if TYPE_CHECKING:
    from dowse.encoders.document import Document
    from dowse.encoders.encoder import Encoder
    from dowse.storage.protocol import Backend, Floats, Reader, VectorWriter
    from dowse.vectors.cache import VectorCache

Chunk = list[tuple[bytes, "Document"]]

# Symbols encoded between two commits: a few seconds of work, which is all that a kill can cost.
_CHUNK = 512
# Questions that a large index tries its approximate search with, and files they are taken from.
_QUESTIONS, _QUESTION_FILES = 300, 1000


@dataclass(frozen=True, slots=True)
class EmbedReport:
    """What an embedding run did."""

    encoder: str
    encoded: int = 0
    reused: int = 0  # found in the cache that all indexes share
    missing: int = 0  # still without a vector, if the run was cut short
    seconds: float = 0.0


def embed(
    backend: Backend,
    encoder: Encoder,
    cache: VectorCache,
    *,
    clusters: int,
    method: str = "auto",
    seconds: float | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_wait: Callable[[str], None] = lambda _: None,
    wait: float | None = None,
    chunk: int = _CHUNK,
    pause: Callable[[], bool] = lambda: False,
    finish: bool = True,
) -> EmbedReport:
    """Encode what has no vector, chunk by chunk; each chunk is kept whatever happens after it.

    Args:
        backend: The index.
        encoder: What encodes.
        cache: Vectors of earlier runs, of any index.
        clusters: How many groups of similar symbols to fit.
        method: How the vectors will be searched: auto, exact or approx.
        seconds: Stop after the first chunk that ends later than this.
        on_progress: Called after every chunk.
        on_wait: Called once with a message if another process holds the vectors.
        wait: Seconds to wait for it; None waits as long as it takes.
        chunk: Symbols between two commits.
        pause: Asked after every chunk whether to stop there.
        finish: Whether to fit what `related` and large indexes need, once nothing is missing.
    """
    started = time.monotonic()
    work = _Work(backend, encoder)
    total = work.left()
    encoded = reused = 0
    # Also if none is left: who encoded the last may have been killed before it could finish.
    if total or work.symbols:
        with backend.vector_writer(encoder.id, encoder.dimension, wait, on_wait) as writer:
            while taken := work.next_chunk(chunk):
                known = _fill(encoder, cache, writer, taken)
                encoded, reused = encoded + len(taken) - known, reused + known
                on_progress(Progress(encoded + reused, max(total, encoded + reused)))
                if (seconds is not None and time.monotonic() - started > seconds) or pause():
                    break
            if finish and not work.left():
                writer.finish(clusters, method, lambda: _questions(backend, encoder))
    return EmbedReport(encoder.id, encoded, reused, work.left(), time.monotonic() - started)


class _Work:
    """The symbols of the newest generation that have no vector; that may become another one meanwhile."""

    def __init__(self, backend: Backend, encoder: Encoder) -> None:
        self._backend, self._encoder = backend, encoder
        self._generation = 0
        self.symbols = 0
        self._queue: deque[tuple[int, bytes]] = deque()

    def left(self) -> int:
        """Return how many there are."""
        with self._backend.reader() as reader:
            self._follow(reader)
        return len(self._queue)

    def next_chunk(self, most: int) -> Chunk:
        """Take some of them, as keys and documents."""
        with self._backend.reader() as reader:
            self._follow(reader)
            found = [self._queue.popleft() for _ in range(min(most, len(self._queue)))]
            documents = reader.documents([row for row, _ in found])
        return [(key, document) for (_, key), document in zip(found, documents, strict=True)]

    def _follow(self, reader: Reader) -> None:
        if reader.generation != self._generation:
            self._generation, self.symbols = reader.generation, reader.symbol_count()
            self._queue = deque(reader.without_vector(self._encoder.id))


def _fill(encoder: Encoder, cache: VectorCache, writer: VectorWriter, chunk: Chunk) -> int:
    """Give some symbols their vectors; return how many had been encoded before."""
    import numpy as np

    known = cache.get_many([key for key, _ in chunk])
    fresh = [(key, document) for key, document in chunk if key not in known]
    if fresh:
        vectors = encoder.encode_documents([document for _, document in fresh])
        if not np.isfinite(vectors).all():
            raise DowseError(f"the encoder {encoder.name} gives numbers that are not finite; use another one")
        cache.put_many([key for key, _ in fresh], vectors)
        writer.put([key for key, _ in fresh], vectors)
    if known:
        writer.put(list(known), np.stack(list(known.values())))
    return len(known)


def _questions(backend: Backend, encoder: Encoder) -> Floats:
    """Return vectors such as will be asked for: of what the documentation of some symbols says first."""
    import random

    from dowse.encoders.document import first_sentence

    with backend.reader() as reader:
        files = reader.files()
        some = random.Random(0).sample(files, min(_QUESTION_FILES, len(files)))  # noqa: S311
        rows = reader.rows_of_files([file.file_id for file in some])
        documents = reader.documents([row.row for row in rows[: 10 * _QUESTIONS]])
    said = dict.fromkeys(first_sentence(document.docs) for document in documents if document.docs)
    return encoder.encode_queries([text for text in said if text][:_QUESTIONS])
