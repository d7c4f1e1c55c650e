"""A cache of vectors on disk, shared by all indexes of a user: nothing is encoded twice.

One SQLite file an encoder. It may be lost at any time: a damaged file is thrown away, and failures to read
or write are ignored. The oldest vectors are evicted first.
"""

from __future__ import annotations

import contextlib
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dowse.damage import is_damage
from dowse.errors import DowseError, IndexLocked
from dowse.security.safe_files import make_private_directory
from dowse.vectors.files import encoder_path
from dowse.vectors.quantize import Floats, quantise, restore, scales_of
from dowse.write_lock import write_lock

# Some 2.4 million vectors of 384 dimensions.
MAX_BYTES = 1 << 30
# What SQLite needs for a row besides the vector: key twice, row number, checksum, b-tree.
_ROW_OVERHEAD = 64
# Names the format; another format gets another file.
_SUFFIX = ".v1.sqlite"
_COMPANIONS = ("", "-wal", "-shm")
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, "
    "codes BLOB NOT NULL, checksum INTEGER NOT NULL)"
)
_BATCH = 500
_BUSY_SECONDS = 10.0


class VectorCache:
    """Vectors of one encoder by key; for one thread, and any number of processes."""

    def __init__(
        self,
        folder: Path,
        encoder: str,
        dimension: int,
        max_bytes: int = MAX_BYTES,
        wait: float = _BUSY_SECONDS,
    ) -> None:
        """Open or create the cache of one encoder; what can't be had within `wait` seconds is left out."""
        self.path = encoder_path(folder, encoder, _SUFFIX)
        self._dimension = dimension
        self._max_rows = max(1, max_bytes // (dimension + _ROW_OVERHEAD))
        self._database: sqlite3.Connection | None = None
        self._writable = True
        self._wait = wait
        with self._tolerate_failures():
            self._database = self._connect()

    def __enter__(self) -> VectorCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, Floats]:
        """Return the unit vectors of the keys that are cached."""
        codes_by_key: dict[bytes, bytes] = {}
        with self._tolerate_failures():
            for start in range(0, len(keys), _BATCH):
                codes_by_key.update(self._stored(keys[start : start + _BATCH]))
        if not codes_by_key:
            return {}
        codes = np.frombuffer(b"".join(codes_by_key.values()), np.int8).reshape(-1, self._dimension)
        return dict(zip(codes_by_key, restore(codes, scales_of(codes)), strict=True))

    def put_many(self, keys: Sequence[bytes], vectors: NDArray[Any]) -> None:
        """Add vectors; the oldest are evicted when there are too many."""
        if not len(keys) or not self._writable:
            return
        codes, _ = quantise(vectors)
        blobs = [row.tobytes() for row in codes]
        entries = [(key, blob, _checksum(key, blob)) for key, blob in zip(keys, blobs, strict=True)]
        with self._tolerate_failures():
            self._write(entries)

    def close(self) -> None:
        """Close the file."""
        if self._database is not None:
            with contextlib.suppress(sqlite3.Error):
                self._database.close()
            self._database = None

    def _stored(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the codes of keys whose checksum is right."""
        if self._database is None:
            return {}
        marks = ",".join("?" * len(keys))
        query = f"SELECT key, codes, checksum FROM vectors WHERE key IN ({marks})"
        return {
            key: codes
            for key, codes, checksum in self._database.execute(query, tuple(keys))
            if len(codes) == self._dimension and checksum == _checksum(key, codes)
        }

    def _write(self, entries: list[tuple[bytes, bytes, int]]) -> None:
        """Add entries and evict the oldest, in one transaction."""
        if self._database is None:
            return
        with self._database as database:
            database.execute("BEGIN IMMEDIATE")
            # Replace an entry of the same key: it may be damaged.
            database.executemany(
                "INSERT OR REPLACE INTO vectors (key, codes, checksum) VALUES (?, ?, ?)", entries
            )
            newest = database.execute("SELECT max(id) FROM vectors").fetchone()[0]
            # Row numbers ascend and have few gaps: their range is as good as a count, and cheap.
            database.execute("DELETE FROM vectors WHERE id <= ?", (newest - self._max_rows,))

    @contextlib.contextmanager
    def _tolerate_failures(self) -> Iterator[None]:
        """Ignore errors of SQLite and of the file system; a damaged file is replaced by a new one."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            if is_damage(error):
                with contextlib.suppress(sqlite3.Error, OSError, IndexLocked):
                    self._start_afresh()

    def _connect(self) -> sqlite3.Connection | None:
        """Open the file for writing, or else for reading; None if there is nothing to read."""
        try:
            make_private_directory(self.path.parent)
            return _opened(_uri(self.path), _SCHEMA, self._wait)
        except (sqlite3.OperationalError, OSError, DowseError):
            self._writable = False
        if not self.path.exists():
            return None
        # A read-only folder can't hold the shared memory of the write-ahead log.
        return _opened(_uri(self.path) + "?immutable=1", "", self._wait)

    def _start_afresh(self) -> None:
        """Remove a damaged file, unless another process has already done so."""
        self.close()
        with write_lock(self.path.parent, self._wait, lambda _: None):
            if _is_damaged(self.path):
                for ending in _COMPANIONS:
                    self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        self._database = self._connect()


def _opened(uri: str, schema: str, wait: float = _BUSY_SECONDS) -> sqlite3.Connection:
    """Open a database; the first to open it creates the table."""
    database = sqlite3.connect(uri, uri=True, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        if schema:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            database.execute(schema)
        database.execute("SELECT key, codes, checksum FROM vectors LIMIT 1").fetchone()
    except sqlite3.Error:
        database.close()
        raise
    return database


def _uri(path: Path) -> str:
    return path.absolute().as_uri()


def _is_damaged(path: Path) -> bool:
    """Whether a file that caused an error is still damaged."""
    try:
        with contextlib.closing(_opened(_uri(path), _SCHEMA)) as database:
            return bool(database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",))
    except sqlite3.DatabaseError as error:
        return is_damage(error)


def _checksum(key: bytes, codes: bytes) -> int:
    """Return the checksum of a vector and its key."""
    return zlib.crc32(codes, zlib.crc32(key))
