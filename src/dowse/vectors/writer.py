"""Writing to a matrix of vectors under its write lock: append, commit, compact."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from dowse.errors import DowseError
from dowse.security.checked_files import VERIFIED, VerifiedFiles, seal, stamps
from dowse.security.safe_files import sync_folder, write_atomically
from dowse.vectors.files import ORDER, STATE, TEMPORARY
from dowse.vectors.keys import KEY_BYTES, Keys, as_keys
from dowse.vectors.matrix import (
    KEYS,
    ROWS,
    SCALES,
    Matrix,
    State,
    any_dimension,
    blocks,
    damaged,
    read_state,
)
from dowse.vectors.quantize import Rows, quantise
from dowse.vectors.sums import BLOCK_BYTES, BLOCK_ROWS, SUMS, RowSums
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
        self._sums = self._known_sums()
        _remove_leftovers(folder, self._matrix.state)

    def __len__(self) -> int:
        """Return how many rows there are, committed or not."""
        return self._sums.rows

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
        before = len(self._sums.blocks)
        self._sums.add(len(new), parts)
        for ending, part in zip(columns, parts, strict=True):
            self._file(ending).write(part)
        if len(self._sums.blocks) > before:
            self._file(SUMS).write(self._sums.blocks[before:])
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
        new = State(state.dimension, len(self), state.number, self._sums.state)
        _write_state(self._folder, new)

    def compact(self, keep: Rows) -> None:
        """Keep only some committed rows, in their order; uncommitted rows are lost.

        New files are written beside the old ones, and the state is replaced atomically.
        """
        self._drop_uncommitted()
        old = Matrix.open(self._folder, self._matrix.dimension)
        kept = np.unique(np.asarray(keep, np.int64))
        if len(kept) and not 0 <= kept[0] <= kept[-1] < len(old):
            raise ValueError("rows to keep that are not there")
        self._sums = _copy_rows(old, kept)
        self._matrix = Matrix.open(self._folder, old.dimension)
        _remove_leftovers(self._folder, self._matrix.state)

    def close(self) -> None:
        """Drop uncommitted rows, and write the sorted keys."""
        self._drop_uncommitted()
        matrix = Matrix.open(self._folder, self._matrix.dimension)
        if len(matrix) and not matrix.is_ordered:
            order = matrix.state.path(self._folder, ORDER)
            write_atomically(order, seal(matrix.sorted_entries().tobytes()))

    def _known_sums(self) -> RowSums:
        """Return the checksums of the committed rows; those of an older format are written beside them."""
        state, sums = self._matrix.state, self._matrix.row_sums()
        if sums is None:  # pragma: no cover - opening the matrix has verified them
            raise damaged(self._folder, f"{state.path(self._folder, SUMS).name}: not what was written")
        if state.rows and not state.sums:
            write_atomically(state.path(self._folder, SUMS), sums.blocks)
            _write_state(self._folder, replace(state, sums=sums.state))
            self._matrix = Matrix.open(self._folder, state.dimension)
        return sums

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
            file.seek(_committed_bytes(state, ending))
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
                file.truncate(_committed_bytes(state, ending))
            with contextlib.suppress(OSError):  # unwritten bytes on a full disk are not needed
                file.close()
        self._files.clear()
        self._appended.clear()


def drop_damaged_rows(folder: Path, wait: float | None = None) -> tuple[int, int]:
    """Keep the blocks of rows that are what was written; return how many rows are kept, and are gone.

    Without a state to tell, nothing is kept.
    """
    with write_lock(folder, wait, lambda _: None):
        try:
            state = read_state(folder, any_dimension(folder))
            for ending, width in state.row_bytes().items():
                with open(state.path(folder, ending), "r+b") as file:  # zeros for what was cut off
                    file.truncate(max(file.seek(0, os.SEEK_END), state.rows * width))
            matrix = Matrix(folder, state)
            if matrix.row_sums() is None:
                raise damaged(folder, f"{state.path(folder, SUMS).name} is not what was written")
            wrong = sorted({first for first, _ in matrix.damaged_blocks()})
        except (DowseError, OSError):
            _remove_leftovers(folder, State(1, number=0))
            for name in (STATE, VERIFIED):
                (folder / name).unlink(missing_ok=True)
            return 0, 0
        block = np.arange(len(matrix)) // BLOCK_ROWS * BLOCK_ROWS
        kept = np.flatnonzero(~np.isin(block, wrong))
        _copy_rows(matrix, kept)
        _remove_leftovers(folder, read_state(folder, matrix.dimension))
        return len(kept), len(matrix) - len(kept)


def _copy_rows(old: Matrix, kept: Rows) -> RowSums:
    """Write some rows of a matrix to files of the next number, and make those the matrix."""
    folder, number = old.folder, old.state.number + 1
    sums, place = RowSums(), State(old.dimension, number=number)
    with contextlib.ExitStack() as stack:
        files = [
            stack.enter_context(open(place.path(folder, ending), "wb"))
            for ending in (KEYS, ROWS, SCALES, SUMS)
        ]
        for part in blocks(len(kept), _COPY_ROWS):
            columns = [source[kept[part]].tobytes() for source in (old.keys, old.codes, old.scales)]
            sums.add(part.stop - part.start, columns)
            for file, column in zip(files, columns, strict=False):
                file.write(column)
        files[-1].write(sums.blocks)
        for file in files:
            file.flush()
            os.fsync(file.fileno())
    _write_state(folder, State(old.dimension, len(kept), number, sums.state))
    return sums


def _write_state(folder: Path, state: State) -> None:
    """Make what is on the disk visible; it was just written, so that nobody has to read it again."""
    sync_folder(folder)  # files that it names may be new
    write_atomically(folder / STATE, state.encode())
    VerifiedFiles(folder).add({ROWS: stamps(folder, state.files(folder))})


def _committed_bytes(state: State, ending: str) -> int:
    """Return the size of what is committed in one of the files."""
    return (
        state.rows // BLOCK_ROWS * BLOCK_BYTES if ending == SUMS else state.rows * state.row_bytes()[ending]
    )


def _remove_leftovers(folder: Path, state: State) -> None:
    """Remove files of other numbers, and temporary files of killed writers."""
    for entry in sorted(folder.iterdir()):
        number, _, _ = entry.name.partition(".")
        numbered = _NUMBER.fullmatch(number) is not None
        if (numbered and int(number) != state.number) or entry.name.endswith(TEMPORARY):
            with contextlib.suppress(OSError):  # Windows can't remove memory-mapped files
                entry.unlink()
