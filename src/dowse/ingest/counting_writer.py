"""Files on their way to a store: counted, and given their vectors, so that a cluster gets each once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dowse.encoders.document import Document
from dowse.parsing.spans import join_spans, subtract_spans
from dowse.types import FileRecord, FileStamp, SymbolRecord

if TYPE_CHECKING:
    from dowse.ingest.encoding import SpreadEncoder
    from dowse.storage.elastic.backend import ElasticBackend
    from dowse.storage.protocol import Backend, Floats, GraphStore, Writer
    from dowse.vectors.cache import VectorCache

Note = Callable[[int, int], None]  # called with how many files and symbols were put
# Symbols whose vectors are looked for together. Two such batches are in memory: one is encoded while the next
# is parsed. More than a writer holds back (`elastic/carrying.py`), so what it asks for is in one of them.
_BATCH = 2_048
_KEYS_AT_ONCE = 1_000


class CountedBackend:
    """The writing side of a backend, for `dowse.indexing.update`."""

    def __init__(self, backend: Backend, note: Note, vectors: VectorFinder | None = None) -> None:
        self._backend, self._note, self._vectors = backend, note, vectors

    @contextmanager
    def writer(
        self, wait: float | None = None, on_wait: Callable[[str], None] | None = None
    ) -> Iterator[Writer]:
        """Become the one writer."""
        with self._backend.writer(wait, on_wait) as writer:
            yield CountedWriter(writer, self._note, self._vectors)


class CountedWriter:
    """A writer that holds files back until the vectors of their symbols are there."""

    def __init__(self, writer: Writer, note: Note, vectors: VectorFinder | None) -> None:
        self._writer, self._note, self._vectors = writer, note, vectors
        self._files = self._symbols = 0
        self._filling: list[FileRecord] = []
        self._filled = 0
        self._encoding: tuple[list[FileRecord], Callable[[], None]] | None = None

    def stamps(self) -> dict[str, FileStamp]:
        """Return what the last generation knows of every file."""
        return self._writer.stamps()

    def skipped(self) -> list[tuple[str, str]]:
        """Return what the last generation leaves out."""
        return self._writer.skipped()

    def meta(self) -> dict[str, str]:
        """Return the description of the last generation."""
        return self._writer.meta()

    def put(self, record: FileRecord) -> None:
        """Add a file, or replace the one with its key."""
        self._files, self._symbols = self._files + 1, self._symbols + len(record.symbols)
        self._note(self._files, self._symbols)
        if self._vectors is None:
            self._writer.put(record)
            return
        self._filling.append(record)
        self._filled += len(record.symbols)
        if self._filled >= _BATCH:
            self._turn()

    def delete(self, key: str) -> None:
        """Remove a file."""
        self._flush()
        self._writer.delete(key)

    def graph(self) -> GraphStore:
        """Return what linking reads and writes."""
        self._flush()
        return self._writer.graph()

    def touch(self, key: str, size: int, mtime_ns: int) -> None:
        """Note a new size and time of a file whose content is the same."""
        self._writer.touch(key, size, mtime_ns)

    def set_skipped(self, skipped: Iterable[tuple[str, str]]) -> None:
        """Replace the list of what is left out."""
        self._writer.set_skipped(skipped)

    def commit(self, meta: Mapping[str, str]) -> int:
        """Make everything visible at once."""
        self._flush()
        return self._writer.commit(meta)

    def _flush(self) -> None:
        self._turn()
        self._turn()

    def _turn(self) -> None:
        """Begin to encode what was gathered, and put what was being encoded meanwhile."""
        before, self._encoding = self._encoding, None
        if self._filling and self._vectors is not None:
            self._encoding = (self._filling, self._vectors.begin(self._filling))
            self._filling, self._filled = [], 0
        if before is not None:
            records, ready = before
            ready()
            for record in records:
                self._writer.put(record)


class VectorFinder:
    """Finds or makes the vectors of symbols that are about to be sent to a cluster."""

    def __init__(self, encoder: SpreadEncoder, cache: VectorCache, backend: ElasticBackend) -> None:
        from dowse.storage.protocol import KnownVectors

        self._encoder, self._cache, self._backend = encoder, cache, backend
        self._ready: list[Mapping[bytes, Floats]] = []  # of the last two batches
        self.encoded = 0
        backend.carry(KnownVectors(encoder.id, encoder.dimension, self._find))

    def begin(self, records: Iterable[FileRecord]) -> Callable[[], None]:
        """Begin to encode what nobody has encoded yet; the result waits for that."""
        wanted = {symbol.vector_key: (record, symbol) for record in records for symbol in record.symbols}
        known = self._cache.get_many(list(wanted))
        there = self._on_cluster([key for key in wanted if key not in known])
        fresh = [key for key in wanted if key not in known and key not in there]
        vectors = self._encoder.begin(_documents([wanted[key] for key in fresh]))

        def finish() -> None:
            made = vectors()
            self._cache.put_many(fresh, made)
            self.encoded += len(fresh)
            self._ready = [*self._ready[-1:], {**known, **dict(zip(fresh, made, strict=True))}]

        return finish

    def _find(self, keys: list[bytes]) -> dict[bytes, Floats]:
        found = {key: batch[key] for key in keys for batch in self._ready if key in batch}
        # Where little changed, documents of many batches are sent together.
        return {**self._cache.get_many([key for key in keys if key not in found]), **found}

    def _on_cluster(self, keys: list[bytes]) -> set[bytes]:
        """Return the keys whose vectors are there already; whoever sends documents takes them along."""
        from dowse.storage.elastic.names import vector_field

        alias, field = self._backend.names.alias("symbols"), vector_field(self._encoder.id)
        found: set[bytes] = set()
        for start in range(0, len(keys), _KEYS_AT_ONCE):
            some = [key.hex() for key in keys[start : start + _KEYS_AT_ONCE]]
            body = {
                "query": {
                    "bool": {"filter": [{"terms": {"vector_key": some}}, {"exists": {"field": field}}]}
                },
                "collapse": {"field": "vector_key"},
                "size": len(some),
                "_source": ["vector_key"],
            }
            hits = self._backend.client.search(alias, body)["hits"]["hits"]
            found.update(bytes.fromhex(hit["_source"]["vector_key"]) for hit in hits)
        return found


def _documents(symbols: Iterable[tuple[FileRecord, SymbolRecord]]) -> list[Document]:
    """Return what an encoder reads of symbols that are in no store yet."""
    texts: dict[str, bytes] = {}
    found = []
    for record, symbol in symbols:
        if record.key not in texts:
            texts[record.key] = record.text.encode("utf-8", "replace")
        bare = join_spans(texts[record.key], subtract_spans(symbol.spans, symbol.doc_spans))
        found.append(
            Document(
                qualifier=symbol.qualified_name.removesuffix(symbol.name).rstrip("."),
                name=symbol.name,
                docs=symbol.doc,
                code=bare.decode("utf-8", "replace"),
                language=record.language,
                path=record.path,
            )
        )
    return found
