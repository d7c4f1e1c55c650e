"""Writing to a matrix of vectors under its write lock: append, commit, compact."""

from __future__ import annotations

import contextlib
import os
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from dowse.errors import DowseError
from dowse.security.safe_files import sync_folder, write_atomically
from dowse.vectors.files import ORDER, STATE, TEMPORARY
from dowse.vectors.keys import KEY_BYTES, Keys, as_keys
from dowse.vectors.matrix import KEYS, ROWS, SCALES, Matrix, State, blocks, read_state
from dowse.vectors.quantize import Rows, quantise
from dowse.write_lock import is_open_at, write_lock

_NUMBER = re.compile(r"[0-9]{6,}")
_COPY_ROWS = 16_384


@contextlib.contextmanager
def matrix_writer(
    folder: Path, dimension: int, wait: float | None = None, on_wait: Callable[[str], None] = lambda _: None
) -> Iterator[MatrixWriter]:
    """Write to the matrix in a folder; what is not committed at the end is lost.

    Waits up to `wait` seconds for another writer to finish (None: as long as it takes).
    """
    with write_lock(folder, wait, on_wait):
        writer = MatrixWriter(folder, dimension)
        try:
            yield writer
        finally:
            writer.close()


class MatrixWriter:
    """Appends rows to a matrix whose lock is held; made by `matrix_writer`."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self._folder = folder
        self._matrix = Matrix.open(folder, dimension)
        self._files: dict[str, IO[bytes]] = {}
        self._appended: set[bytes] = set()  # keys since the matrix was opened
        self._rows = len(self._matrix)
        self._checksums = self._matrix.state.checksums or self._matrix.checksums()
        _remove_leftovers(folder, self._matrix.state)

    def __len__(self) -> int:
        """Return how many rows there are, committed or not."""
        return self._rows

    def matrix(self) -> Matrix:
        """Return what is committed, for reading."""
        if self._appended:
            self._matrix, self._appended = Matrix.open(self._folder, self._matrix.dimension), self._pending()
        return self._matrix

    def append(self, keys: Keys, vectors: NDArray[Any]) -> int:
        """Add the rows whose keys are new; return how many those are.

        A key names the content of a vector, so that a second one under the same key is the same.
        """
        if vectors.shape != (len(keys), self._matrix.dimension) or keys.shape[1:] != (KEY_BYTES,):
            raise ValueError(f"keys {keys.shape} and vectors {vectors.shape} do not fit the matrix")
        codes, scales = quantise(vectors)
        new = self._unknown(keys)
        columns = {KEYS: keys, ROWS: codes, SCALES: scales.astype("<f4", copy=False)}
        parts = [np.ascontiguousarray(data[new]).tobytes() for data in columns.values()]
        for ending, part in zip(columns, parts, strict=True):
            self._file(ending).write(part)
        self._rows += len(new)
        self._checksums = tuple(map(zlib.crc32, parts, self._checksums))
        self._appended.update(keys[row].tobytes() for row in new)
        return len(new)

    def commit(self) -> None:
        """Make appended rows durable and visible."""
        state = self._matrix.state
        for ending, file in self._files.items():
            file.flush()
            os.fsync(file.fileno())
            if not is_open_at(file.fileno(), state.path(self._folder, ending)):
                raise DowseError(f"the vectors in {self._folder} were removed meanwhile; run `dowse index`")
        _write_state(self._folder, State(state.dimension, len(self), state.number, self._checksums))

    def compact(self, keep: Rows) -> None:
        """Keep only some committed rows, in their order; uncommitted rows are lost.

        New files are written beside the old ones, and the state is replaced atomically.
        """
        self._drop_uncommitted()
        old = Matrix.open(self._folder, self._matrix.dimension)
        kept = np.unique(np.asarray(keep, np.int64))
        if len(kept) and not 0 <= kept[0] <= kept[-1] < len(old):
            raise ValueError("rows to keep that are not there")
        _copy_rows(old, kept)
        self._matrix = Matrix.open(self._folder, old.dimension)
        self._rows, self._checksums = len(self._matrix), self._matrix.state.checksums
        _remove_leftovers(self._folder, self._matrix.state)

    def close(self) -> None:
        """Drop uncommitted rows, and write the sorted keys."""
        self._drop_uncommitted()
        matrix = Matrix.open(self._folder, self._matrix.dimension)
        if len(matrix) and not matrix.is_ordered:
            order = matrix.state.path(self._folder, ORDER)
            write_atomically(order, matrix.sorted_entries().tobytes())

    def _unknown(self, keys: Keys) -> list[int]:
        """Return the positions of keys that are new, each key once."""
        new: dict[bytes, int] = {}
        for row in np.flatnonzero(self._matrix.find(keys) < 0).tolist():
            key = keys[row].tobytes()
            if key not in self._appended:
                new.setdefault(key, row)
        return list(new.values())

    def _pending(self) -> set[bytes]:
        """Return the keys that are appended but not in the committed matrix."""
        keys = list(self._appended)
        rows = self._matrix.find(as_keys(keys)).tolist()
        return {key for key, row in zip(keys, rows, strict=True) if row < 0}

    def _file(self, ending: str) -> IO[bytes]:
        """Return an open file, positioned after its committed rows."""
        if ending not in self._files:
            state = self._matrix.state
            path = state.path(self._folder, ending)
            path.touch()
            file = open(path, "r+b")  # noqa: SIM115 (closed by `close`)
            file.seek(state.rows * state.row_bytes()[ending])
            with contextlib.suppress(OSError):  # Windows can't truncate a memory-mapped file
                file.truncate()
            self._files[ending] = file
        return self._files[ending]

    def _drop_uncommitted(self) -> None:
        """Close the files and truncate them to the committed rows."""
        state = read_state(self._folder, self._matrix.dimension)
        for ending, file in self._files.items():
            # Through the open file: if the index was removed, there may be another at its path.
            with contextlib.suppress(OSError):
                file.truncate(state.rows * state.row_bytes()[ending])
            with contextlib.suppress(OSError):  # unwritten bytes on a full disk are not needed
                file.close()
        self._files.clear()
        self._appended.clear()


def _copy_rows(old: Matrix, kept: Rows) -> None:
    """Write some rows of a matrix to files of the next number, and make those the matrix."""
    folder, number = old.folder, old.state.number + 1
    place = State(old.dimension, number=number)
    checksums: tuple[int, ...] = (0, 0, 0)
    with contextlib.ExitStack() as stack:
        files = [
            stack.enter_context(open(place.path(folder, ending), "wb")) for ending in (KEYS, ROWS, SCALES)
        ]
        for part in blocks(len(kept), _COPY_ROWS):
            columns = [source[kept[part]].tobytes() for source in (old.keys, old.codes, old.scales)]
            checksums = tuple(map(zlib.crc32, columns, checksums))
            for file, column in zip(files, columns, strict=True):
                file.write(column)
        for file in files:
            file.flush()
            os.fsync(file.fileno())
    _write_state(folder, State(old.dimension, len(kept), number, checksums))


def _write_state(folder: Path, state: State) -> None:
    """Make what is on the disk visible."""
    sync_folder(folder)  # files that it names may be new
    write_atomically(folder / STATE, state.encode())


def _remove_leftovers(folder: Path, state: State) -> None:
    """Remove files of other numbers or without committed rows, and temporary files of killed writers."""
    for entry in sorted(folder.iterdir()):
        number, _, _ = entry.name.partition(".")
        numbered = _NUMBER.fullmatch(number) is not None
        if (numbered and not (state.rows and int(number) == state.number)) or entry.name.endswith(TEMPORARY):
            with contextlib.suppress(OSError):  # Windows can't remove memory-mapped files
                entry.unlink()
