"""Encoding while indexing: batches run asynchronously, here or on the workers of a cluster.

Files for an Elasticsearch cluster are encoded on their way there, so that each document is sent once with its
vectors. Encoding overlaps with parsing (double buffering): one batch is encoded while the next is parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from dowse.errors import DowseError
from dowse.lazy_classes import NamedTuple
from dowse.storage.symbols import build_document
from dowse.types import FileRecord, SymbolRecord

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dowse.config import Settings
    from dowse.encoders.document import Document
    from dowse.encoders.encoder import Encoder, Vectors
    from dowse.storage.elastic.backend import ElasticBackend
    from dowse.storage.protocol import Backend, Floats, GraphStore, OnWait, Writer
    from dowse.vectors.cache import VectorCache

    Codes = NDArray[np.int8]
    # Submits batches to workers; the result waits for them and returns their codes in order.
    Dispatch = Callable[["EncoderSpec", Sequence[Sequence[Document]]], Callable[[], list[Codes]]]

# Documents of one task: a few seconds of work, which is all that the death of a worker can cost, and enough
# to batch sequences of the same length.
BATCH = 256
# Symbols that are buffered on their way to a cluster; two such batches are in memory. More than a writer
# buffers (`VectorAttacher`), so the vectors that it needs are in one of the two.
_WRITE_BATCH = 2_048

OnCount = Callable[[int, int], None]  # called with the number of files and symbols that were put


class EncoderSpec(NamedTuple):
    """The arguments that load an encoder, on every machine."""

    name: str
    view: str
    device: str
    threads: int = 1

    @classmethod
    def from_settings(cls, settings: Settings) -> EncoderSpec:
        """Return what the settings say."""
        return cls(settings.encoder, settings.view, settings.device, settings.threads)


@lru_cache(maxsize=2)
def load_encoder(spec: EncoderSpec) -> Encoder:
    """Return an encoder, which stays loaded for the life of the process."""
    from dowse.encoders import registry

    return registry.load_encoder(*spec)


def encode_batch(spec: EncoderSpec, documents: Sequence[Document]) -> Codes:
    """Return the vectors of documents quantised to bytes, as every index stores them."""
    import numpy as np

    from dowse.vectors.quantize import quantise

    vectors = load_encoder(spec).encode_documents(documents)
    if not np.isfinite(vectors).all():
        raise DowseError(f"the encoder {spec.name} gives numbers that are not finite; use another one")
    return quantise(vectors)[0]


class DistributedEncoder:
    """An encoder that runs small requests itself and dispatches large ones to workers."""

    def __init__(self, spec: EncoderSpec, dispatch: Dispatch | None = None, batch: int = BATCH) -> None:
        self._spec, self._dispatch, self._batch = spec, dispatch, batch

    @cached_property
    def _encoder(self) -> Encoder:
        return load_encoder(self._spec)

    @property
    def name(self) -> str:
        """The name that users know."""
        return self._encoder.name

    @property
    def id(self) -> str:
        """Fingerprint of the weights and of what is read."""
        return self._encoder.id

    @property
    def dimension(self) -> int:
        """The dimension of its vectors."""
        return self._encoder.dimension

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return a unit vector for every query."""
        return self._encoder.encode_queries(texts)

    def encode_documents(self, documents: Sequence[Document | str]) -> Vectors:
        """Return a unit vector for every document."""
        from dowse.encoders.document import as_documents

        return self.submit(as_documents(documents))()

    def submit(self, documents: Sequence[Document]) -> Callable[[], Vectors]:
        """Start to encode; the result waits and returns a unit vector for every document."""
        import numpy as np

        from dowse.vectors.quantize import restore, scales_of

        def encode_here() -> list[Codes]:
            return [encode_batch(self._spec, documents)] if documents else []

        codes: Callable[[], list[Codes]] = encode_here
        if self._dispatch is not None and len(documents) > self._batch:
            starts = range(0, len(documents), self._batch)
            codes = self._dispatch(self._spec, [documents[start : start + self._batch] for start in starts])

        def wait() -> Vectors:
            joined = np.concatenate([np.empty((0, self.dimension), np.int8), *codes()])
            return restore(joined, scales_of(joined))

        return wait


class EncodingBackend:
    """The writing side of a backend, for `dowse.indexing.update`."""

    def __init__(self, backend: Backend, on_count: OnCount, vectors: VectorProvider | None = None) -> None:
        self._backend, self._on_count, self._vectors = backend, on_count, vectors

    @contextmanager
    def writer(self, wait: float | None = None, on_wait: OnWait = None) -> Iterator[Writer]:
        """Become the one writer."""
        with self._backend.writer(wait, on_wait) as writer:
            yield EncodingWriter(writer, self._on_count, self._vectors)


class EncodingWriter:
    """Counts files, and buffers them until the vectors of their symbols are known."""

    def __init__(self, writer: Writer, on_count: OnCount, vectors: VectorProvider | None) -> None:
        self._writer, self._on_count, self._vectors = writer, on_count, vectors
        self.fingerprints, self.skipped, self.meta = writer.fingerprints, writer.skipped, writer.meta
        self.touch, self.set_skipped = writer.touch, writer.set_skipped
        self.deferred_files, self.complete_file = writer.deferred_files, writer.complete_file
        self._files = self._symbols = 0
        self._buffer: list[FileRecord] = []
        self._buffered_symbols = 0
        self._encoding: tuple[list[FileRecord], Callable[[], None]] | None = None

    def put(self, record: FileRecord) -> None:
        """Add a file, or replace the one with its key."""
        self._files, self._symbols = self._files + 1, self._symbols + len(record.symbols)
        self._on_count(self._files, self._symbols)
        if self._vectors is None:
            self._writer.put(record)
            return
        self._buffer.append(record)
        self._buffered_symbols += len(record.symbols)
        if self._buffered_symbols >= _WRITE_BATCH:
            self._swap()

    def delete(self, key: str) -> None:
        """Remove a file."""
        self._flush()
        self._writer.delete(key)

    def graph(self) -> GraphStore:
        """Return what linking reads and writes."""
        self._flush()
        return self._writer.graph()

    def share_graph(self) -> str:
        """Let other processes read the graph."""
        return self._writer.share_graph()

    def begin_generation(self) -> None:
        """Let the next commit be a new generation although no file changed."""
        self._writer.begin_generation()

    def commit(self, meta: Mapping[str, str]) -> int:
        """Make everything visible at once."""
        self._flush()
        return self._writer.commit(meta)

    def _flush(self) -> None:
        self._swap()
        self._swap()

    def _swap(self) -> None:
        """Start to encode the buffer, and put the batch that was being encoded."""
        before, self._encoding = self._encoding, None
        if self._buffer and self._vectors is not None:
            self._encoding = (self._buffer, self._vectors.submit(self._buffer))
            self._buffer, self._buffered_symbols = [], 0
        if before is not None:
            records, wait = before
            wait()
            for record in records:
                self._writer.put(record)


class VectorProvider:
    """Finds or encodes the vectors of symbols that are about to be sent to a cluster."""

    def __init__(self, encoder: DistributedEncoder, cache: VectorCache, backend: ElasticBackend) -> None:
        from dowse.storage.protocol import KnownVectors

        self._encoder, self._cache, self._backend = encoder, cache, backend
        self._batches: list[Mapping[bytes, Floats]] = []  # the last two
        self.encoded = 0
        backend.set_known_vectors(KnownVectors(encoder.id, encoder.dimension, self._find))

    def submit(self, records: Iterable[FileRecord]) -> Callable[[], None]:
        """Start to encode symbols that neither the cache nor the cluster knows; the result waits for that."""
        from dowse.storage.elastic.names import vector_field
        from dowse.storage.elastic.vectors import find_vectors

        symbols = {symbol.vector_key: (record, symbol) for record in records for symbol in record.symbols}
        cached = self._cache.get_many(list(symbols))
        uncached = [key for key in symbols if key not in cached]
        field = vector_field(self._encoder.id)
        # The writer takes vectors along that the cluster has.
        on_cluster = find_vectors(self._backend.client, field, uncached, with_values=False)
        new = [key for key in uncached if key not in on_cluster]
        vectors = self._encoder.submit(_documents([symbols[key] for key in new]))

        def finish() -> None:
            encoded = vectors()
            self._cache.put_many(new, encoded)
            self.encoded += len(new)
            self._batches = [*self._batches[-1:], {**cached, **dict(zip(new, encoded, strict=True))}]

        return finish

    def _find(self, keys: list[bytes]) -> dict[bytes, Floats]:
        encoded = {key: batch[key] for key in keys for batch in self._batches if key in batch}
        # Where little changed, documents of many batches are sent together.
        return {**self._cache.get_many([key for key in keys if key not in encoded]), **encoded}


def _documents(symbols: Iterable[tuple[FileRecord, SymbolRecord]]) -> list[Document]:
    """Return what an encoder reads of symbols that are in no store yet."""
    texts: dict[str, bytes] = {}
    documents = []
    for record, symbol in symbols:
        if record.key not in texts:
            texts[record.key] = record.text.encode("utf-8", "replace")
        text = texts[record.key]
        documents.append(build_document(symbol, symbol, text, record.language, record.path))
    return documents
