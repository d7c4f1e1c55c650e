"""One index on a cluster as a storage backend; no request is made before one is needed."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dowse.errors import ConfigError, DowseError, IndexMissing, IndexVersionError
from dowse.storage.elastic import mapping
from dowse.storage.elastic.address import ElasticAddress, parse_address
from dowse.storage.elastic.client import RETRY_SECONDS, Client
from dowse.storage.elastic.names import META
from dowse.storage.elastic.rows import GenerationCache
from dowse.storage.elastic.snapshot import SnapshotSearcher, open_searcher, read_state
from dowse.storage.protocol import KnownVectors, OnWait

if TYPE_CHECKING:
    from dowse.storage.elastic.lease import SourceLease
    from dowse.storage.elastic.reader import ElasticReader
    from dowse.storage.elastic.vectors import ElasticVectorWriter
    from dowse.storage.elastic.writer import ElasticWriter

# Generations whose caches are kept: that of the newest reader, and that of one which is still in use.
_GENERATIONS = 2


class ElasticBackend:
    """An index that many repositories share; readers see all of them, a writer writes one."""

    def __init__(
        self, address: ElasticAddress | str, source: str = "", retry_seconds: float = RETRY_SECONDS
    ) -> None:
        """Name an index.

        Args:
            address: Its address.
            source: What a writer writes: the name of a repository or corpus. Readers need none.
            retry_seconds: How long requests are retried while the cluster recovers; bulk requests four times
                as long while it is overloaded.
        """
        self.parsed_address = parse_address(address) if isinstance(address, str) else address
        self.source, self._retry_seconds = source, retry_seconds
        self._vectors: KnownVectors | None = None
        self._cache = lru_cache(_GENERATIONS)(lambda identity, generation: GenerationCache())
        self._client: Client | None = None
        self._lock = threading.Lock()
        self._is_checked = self._starts_over = False
        # One backend searches the same shard copies each time; backends spread over all copies.
        self._preference = uuid.uuid4().hex[:12]

    def __repr__(self) -> str:
        return f"ElasticBackend({self.address!r}, {self.source!r})"

    @property
    def address(self) -> str:
        """The address that opens it again; it holds no secret."""
        return str(self.parsed_address)

    @property
    def client(self) -> Client:
        """The connections to the cluster, opened when they are first needed."""
        with self._lock:
            if self._client is None:
                self._client = Client(self.parsed_address, self._retry_seconds)
            return self._client

    def set_known_vectors(self, known: KnownVectors | None) -> None:
        """Send known vectors along with documents."""
        self._vectors = known

    def has_generation(self) -> bool:
        """Whether there is an index to read; also if it is of another format."""
        try:
            state = read_state(self.client)
        except IndexVersionError:
            return True
        return state is not None and bool(state["generation"])

    def exists(self) -> bool:
        """Whether there is anything that `clear` would remove."""
        try:
            return read_state(self.client) is not None
        except IndexVersionError:
            return True

    def searcher(self) -> SnapshotSearcher:
        """Return a searcher of the newest snapshot; raises IndexMissing if there is none."""
        return open_searcher(self.client, self.source, self._preference)

    @contextlib.contextmanager
    def reader(self) -> Iterator[ElasticReader]:
        """Open the newest generation for reading."""
        from dowse.storage.elastic.reader import ElasticReader

        searcher = self.searcher()
        self._check_mapping()
        snapshot = searcher.snapshot
        yield ElasticReader(searcher, self._cache(snapshot.identity, snapshot.generation))

    @contextlib.contextmanager
    def writer(self, wait: float | None = None, on_wait: OnWait = None) -> Iterator[ElasticWriter]:
        """Become the one writer of this source."""
        with self._lease(wait, on_wait) as lease:
            writer = self._open_writer(lease, self._starts_over)
            self._starts_over = False
            is_resumable = False
            try:
                yield writer
            except (DowseError, KeyboardInterrupt):
                is_resumable = True  # by the next writer; what is unfinished is invisible
                raise
            finally:
                with contextlib.suppress(DowseError):  # what can't be undone now is invisible, too
                    writer.close(rollback=not is_resumable)

    @contextlib.contextmanager
    def vector_writer(
        self, encoder: str, dimension: int, wait: float | None = None, on_wait: OnWait = None
    ) -> Iterator[ElasticVectorWriter]:
        """Add vectors of an encoder; any number of writers may do so at once."""
        from dowse.storage.elastic.vectors import ElasticVectorWriter

        self._check_mapping()
        yield ElasticVectorWriter(self.client, encoder, dimension)

    def start_over(self, wait: float | None = None, on_wait: OnWait = None) -> None:
        """Let the next writer put everything again; empty an index that is broken or of another format."""
        try:
            self._check_mapping()
            read_state(self.client)
        except (IndexMissing, IndexVersionError):
            if not self.exists():
                return
            mapping.replace(self.client)
            self._cache.cache_clear()
        self._starts_over = True

    def clear(self, wait: float | None = 0.0, on_wait: OnWait = None) -> None:
        """Remove this source; the index with it, where it is the only one."""
        try:
            state = read_state(self.client)
        except IndexVersionError:
            if not self._is_only_source():
                raise  # other sources would be removed too, which was not requested
            state = None
        if state is None or not self.source or self._is_only_source():
            self.drop()
            return
        with self._lease(wait, on_wait) as lease:
            writer = self._open_writer(lease, start_over=True)
            try:
                writer.delete_source()
            finally:
                writer.close(rollback=False)

    def drop(self) -> None:
        """Remove the whole index, with all its sources."""
        from dowse.storage.elastic.mirror import mirror_path, remove_mirror

        with contextlib.suppress(IndexVersionError):
            state = read_state(self.client)
            if state is not None:
                remove_mirror(mirror_path(state["identity"], self.source))
        mapping.drop(self.client)
        self._cache.cache_clear()
        self._is_checked = False

    def close(self) -> None:
        """Close the connections; the next reader opens them again."""
        with self._lock:
            client, self._client = self._client, None
        self._cache.cache_clear()
        self._is_checked = False
        if client is not None:
            client.close()

    def writer_process(self) -> int | None:
        """Return the process that is writing this source, if one is."""
        from dowse.storage.elastic.lease import find_holder

        holder = find_holder(self.client, self.source) if self.source else None
        return int(holder["pid"]) if holder else None

    def size(self) -> int:
        """Return the bytes of the index, replicas included."""
        client = self.client
        stats = client.call(lambda es: es.indices.stats(index=client.aliases, metric="store"))
        return int(stats["_all"]["total"]["store"]["size_in_bytes"])

    def health(self) -> dict[str, Any]:
        """Return the health of the index on its cluster."""
        from dowse.storage.elastic.health import read_health

        return read_health(self.searcher())

    def check(self) -> list[str]:
        """Return what is wrong with the index."""
        searcher = self.searcher()
        try:
            mapping.check(self.client)
        except DowseError as error:
            return [str(error)]
        return searcher.problems()

    def remove_damage(self, wait: float | None = None, on_wait: OnWait = None) -> bool:
        """Do nothing: Elasticsearch has checksums and copies of its own."""
        return False

    @contextlib.contextmanager
    def _lease(self, wait: float | None, on_wait: OnWait) -> Iterator[SourceLease]:
        """Hold the lease of this source; missing indices are created first."""
        from dowse.storage.elastic.lease import SourceLease
        from dowse.storage.elastic.transactions import IndexState

        if not self.source:
            raise ConfigError(f"name the repository or corpus to write to {self.address}")
        if read_state(self.client) is None:
            mapping.create(self.client)
            IndexState(self.client).create()
        self._check_mapping()
        lease = SourceLease(self.client, self.source)
        lease.acquire(wait, on_wait or (lambda _: None))
        try:
            yield lease
        finally:
            lease.release()

    def _open_writer(self, lease: SourceLease, start_over: bool) -> ElasticWriter:
        from dowse.storage.elastic.writer import ElasticWriter

        return ElasticWriter(self.client, lease, self._vectors, start_over)

    def _check_mapping(self) -> None:
        if not self._is_checked:
            mapping.check(self.client)
            self._is_checked = True

    def _is_only_source(self) -> bool:
        """Whether no other source is in the index, nor about to be."""
        alias = self.client.alias(META)
        self.client.refresh([alias])
        query = {
            "bool": {"filter": [{"term": {"kind": "source"}}], "must_not": [{"term": {"slot": self.source}}]}
        }
        # The document of a deleted source remains, with neither of the two.
        fields = ["data.lock.owner", "data.versions.*.counts"]
        others = self.client.scan(alias, query, ("slot",), source=fields)
        return not any(hit["_source"].get("data") for hit in others)
