"""One index on a cluster, as the engine knows it; nothing is asked of the cluster before it is needed."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dowse.errors import ConfigError, DowseError, IndexMissing, IndexVersionError
from dowse.storage.elastic import mapping
from dowse.storage.elastic.address import ElasticAddress, parse_address
from dowse.storage.elastic.carrying import Carrier
from dowse.storage.elastic.client import PATIENCE, Client
from dowse.storage.elastic.memory import Memories
from dowse.storage.elastic.names import Names
from dowse.storage.elastic.session import Session, scan
from dowse.storage.elastic.state import read_snapshot, read_state, snapshot_of
from dowse.storage.protocol import KnownVectors

if TYPE_CHECKING:
    from dowse.storage.elastic.lock import SourceLock
    from dowse.storage.elastic.reader import ElasticReader
    from dowse.storage.elastic.vector_writer import ElasticVectorWriter
    from dowse.storage.elastic.writer import ElasticWriter

OnWait = Callable[[str], None] | None


class ElasticBackend:
    """An index that many repositories share; readers see all of them, a writer brings one."""

    def __init__(
        self,
        address: ElasticAddress | str,
        source: str = "",
        vectors: KnownVectors | None = None,
        patience: float = PATIENCE,
    ) -> None:
        """Name an index.

        Args:
            address: Where it is.
            source: What a writer brings: the name of a repository or corpus. Readers need none.
            vectors: Vectors that this machine has; documents that are sent take them along.
            patience: Seconds to ask again while the cluster heals; four times as long while it is too busy to
                take what is written.
        """
        self.place = parse_address(address) if isinstance(address, str) else address
        self.source, self.vectors, self._patience = source, vectors, patience
        self._names = Names(self.place.name)
        self._memories = Memories()
        self._client: Client | None = None
        self._lock = threading.Lock()
        self._is_checked = self._starts_over = False
        # One backend asks the same copies of the data each time; others spread over the rest.
        self._preference = uuid.uuid4().hex[:12]

    @classmethod
    def at(cls, address: str, root: Path | None = None) -> ElasticBackend:
        """Name the index that an address says, for the repository or corpus at a place."""
        from dowse.source.git import repo_identity

        return cls(address, repo_identity(root) if root is not None else "")

    def __repr__(self) -> str:
        return f"ElasticBackend({str(self.place)!r}, {self.source!r})"

    @property
    def address(self) -> str:
        """What opens it again; it holds nothing secret."""
        return str(self.place)

    @property
    def names(self) -> Names:
        """What its indices are called."""
        return self._names

    @property
    def client(self) -> Client:
        """The connections to the cluster, opened when they are first needed."""
        with self._lock:
            if self._client is None:
                self._client = Client(self.place, self._patience)
            return self._client

    def set_known_vectors(self, known: KnownVectors | None) -> None:
        """Let documents that are sent take vectors along."""
        self.vectors = known

    def has_generation(self) -> bool:
        """Whether there is an index to read; also if another dowse made it."""
        try:
            state = read_state(self.client, self._names)
        except IndexVersionError:
            return True
        return state is not None and bool(state["generation"])

    def exists(self) -> bool:
        """Whether there is anything that `clear` would remove."""
        try:
            return read_state(self.client, self._names) is not None
        except IndexVersionError:
            return True

    @contextlib.contextmanager
    def reader(self) -> Iterator[ElasticReader]:
        """Open the newest generation for reading."""
        from dowse.storage.elastic.reader import ElasticReader

        snapshot = read_snapshot(self.client, self._names)
        self._check_mapping()
        session = Session(self.client, self._names, snapshot, self.source, self._preference)
        yield ElasticReader(session, self._memories.of(snapshot))

    @contextlib.contextmanager
    def writer(self, wait: float | None = None, on_wait: OnWait = None) -> Iterator[ElasticWriter]:
        """Become the one writer of this source."""
        with self._locked(wait, on_wait) as lock:
            writer = self._open_writer(lock, self._starts_over)
            self._starts_over = False
            try:
                yield writer
            except (DowseError, KeyboardInterrupt):
                # The next writer goes on where this one stopped: nobody sees what is half done.
                writer.close(undo=False)
                raise
            except BaseException:
                self._undo(writer)
                raise
            self._undo(writer)

    @staticmethod
    def _undo(writer: ElasticWriter) -> None:
        """Take back what was not committed; what can't be taken back now is invisible anyway."""
        with contextlib.suppress(DowseError):
            writer.close(undo=True)

    def check_vectors(self, encoder: str, dimension: int) -> None:
        """Raise DowseError if vectors of another size are there."""
        state = read_state(self.client, self._names)
        known = snapshot_of(state).encoders.get(encoder, {}) if state else {}
        if known.get("dimension", dimension) != dimension:
            raise DowseError(
                f"the vectors of {encoder} in {self._names.name} have {known['dimension']} dimensions, not "
                f"{dimension}; use another encoder, or another index"
            )

    @contextlib.contextmanager
    def vector_writer(
        self, encoder: str, dimension: int, wait: float | None = None, on_wait: OnWait = None
    ) -> Iterator[ElasticVectorWriter]:
        """Add vectors of an encoder; nobody has to wait for others who do so."""
        from dowse.storage.elastic.vector_writer import ElasticVectorWriter

        self._check_mapping()
        yield ElasticVectorWriter(self.client, self._names, encoder, dimension)

    def start_over(self, wait: float | None = None, on_wait: OnWait = None) -> None:
        """Let the next writer put everything again; an index of another format, or a broken one, goes."""
        try:
            self._check_mapping()
            read_state(self.client, self._names)
        except (IndexMissing, IndexVersionError):
            if not self.exists():
                return
            mapping.replace(self.client, self._names)
            self._memories.clear()
        self._starts_over = True

    def clear(self, wait: float | None = 0.0, on_wait: OnWait = None) -> None:
        """Remove this source; the index with it, where it is the last."""
        try:
            state = read_state(self.client, self._names)
        except IndexVersionError:
            if not self._is_alone():
                raise  # others' sources would go along, and nobody asked for that
            state = None
        if state is None or not self.source or self._is_alone():
            self.drop()
            return
        with self._locked(wait, on_wait) as lock:
            writer = self._open_writer(lock, start_over=True)
            try:
                writer.remove_source()
            finally:
                writer.close(undo=False)

    def drop(self) -> None:
        """Remove the whole index, with all its sources."""
        from dowse.storage.elastic.mirror import mirror_path, remove_mirror

        with contextlib.suppress(IndexVersionError):
            state = read_state(self.client, self._names)
            if state is not None:
                remove_mirror(mirror_path(state["identity"], self.source))
        mapping.drop(self.client, self._names)
        self._memories.clear()
        self._is_checked = False

    def close(self) -> None:
        """Let go of the connections; the next reader opens them again."""
        with self._lock:
            client, self._client = self._client, None
        self._memories.clear()
        self._is_checked = False
        if client is not None:
            client.close()

    def writer_process(self) -> int | None:
        """Return the process that is writing this source, if one is."""
        from dowse.storage.elastic.lock import holder_of

        holder = holder_of(self.client, self._names, self.source) if self.source else None
        return int(holder["pid"]) if holder else None

    def size(self) -> int:
        """Return the bytes that the index takes, copies included."""
        indices = ",".join(self._names.every)
        stats = self.client.call(lambda es: es.indices.stats(index=indices, metric="store"))
        return int(stats["_all"]["total"]["store"]["size_in_bytes"])

    def health(self, *, fields: bool = False) -> dict[str, Any]:
        """Return how the index fares on its cluster."""
        from dowse.storage.elastic.health import health_of

        snapshot = read_snapshot(self.client, self._names)
        return health_of(Session(self.client, self._names, snapshot), fields=fields)

    def check(self) -> list[str]:
        """Return what is wrong with the index."""
        from dowse.storage.elastic.checking import problems_of

        snapshot = read_snapshot(self.client, self._names)
        try:
            mapping.check(self.client, self._names)
        except DowseError as error:
            return [str(error)]
        return problems_of(Session(self.client, self._names, snapshot))

    @contextlib.contextmanager
    def _locked(self, wait: float | None, on_wait: OnWait) -> Iterator[SourceLock]:
        """Hold the lock of this source; what is missing of the index is made first."""
        from dowse.storage.elastic.lock import SourceLock
        from dowse.storage.elastic.transactions import Transactions

        if not self.source:
            raise ConfigError(f"name the repository or corpus to write to {self.address}")
        if read_state(self.client, self._names) is None:
            mapping.create(self.client, self._names)
            Transactions(self.client, self._names).start_index()
        self._check_mapping()
        lock = SourceLock(self.client, self._names, self.source)
        lock.acquire(wait, on_wait or (lambda _: None))
        try:
            yield lock
        finally:
            lock.release()

    def _open_writer(self, lock: SourceLock, start_over: bool) -> ElasticWriter:
        from dowse.storage.elastic.mirror import Mirror, mirror_path
        from dowse.storage.elastic.transactions import Transactions
        from dowse.storage.elastic.writer import ElasticWriter, Parts

        transactions = Transactions(self.client, self._names)
        state, left = transactions.take_over(self.source, lock.owner)
        mirror = Mirror.open(mirror_path(state["identity"], self.source), self.source)
        carrier = Carrier(self.client, self._names, state["encoders"], self.vectors)
        parts = Parts(self.client, self._names, lock, transactions, mirror, carrier)
        try:
            return ElasticWriter(parts, state, left, start_over)
        except BaseException:
            mirror.rollback()
            mirror.close()
            raise

    def _check_mapping(self) -> None:
        if not self._is_checked:
            mapping.check(self.client, self._names)
            self._is_checked = True

    def _is_alone(self) -> bool:
        """Whether no other source is in the index, nor about to be."""
        from dowse.storage.elastic.loading import refresh

        refresh(self.client, self._names, ["meta"])
        query = {
            "bool": {"filter": [{"term": {"kind": "source"}}], "must_not": [{"term": {"slot": self.source}}]}
        }
        # Of a source that was removed, its document stays, with neither of the two.
        wanted = ["data.lock.owner", "data.versions.*.counts"]
        others = scan(self.client, self._names.alias("meta"), query, ("slot",), source=wanted)
        return not any(hit["_source"].get("data") for hit in others)
