"""An append-only matrix of int8 vectors in a folder, memory-mapped by readers.

    state.json       how many rows are committed, and which files hold them; replaced atomically
    000001.keys      16 bytes a row
    000001.rows      one signed byte a dimension
    000001.scales    one float32 a row
    000001.order     the rows sorted by key, of the rows that there were when it was written
    000001.sums      checksums of the rows (dowse.vectors.sums)
    verified.json    which of these files were found intact (dowse.security.checked_files)
    writer.lock      the write lock (dowse.write_lock)

Rows are only appended, and the state is replaced after they have reached the disk: a writer killed in between
leaves bytes beyond the committed rows, which nobody reads. Compaction writes files of the next number and
replaces the state; readers keep the old files open. All names are relative: the folder can be moved.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dowse.errors import DowseError, IndexDamaged, IndexVersionError
from dowse.security.checked_files import VerifiedFiles, seal, stamps, unseal
from dowse.vectors.files import FORMAT_VERSION, ORDER, STATE, parse_state
from dowse.vectors.keys import KEY_BYTES, Heads, Keys, find_sorted, heads
from dowse.vectors.quantize import Codes, Floats, Rows, restore
from dowse.vectors.sums import SUMS, RowSums, damaged_blocks, read_sums

# Format 1 had no checksums; the next writer adds them.
_READABLE = (1, FORMAT_VERSION)
KEYS, ROWS, SCALES = ".keys", ".rows", ".scales"
SCALE_BYTES = 4
# One entry of the order file: the head (first eight bytes) of a key, and its row.
ORDER_ENTRY = np.dtype([("head", "<u8"), ("row", "<u4")])
# Compaction may replace the files between reading the state and opening them: then try again.
_ATTEMPTS = 20
# Tolerance on the length of a row before `problem` reports damage: float32 is off by 1e-6.
_LENGTH_SLACK = 1e-3
_CHECK_ROWS = 4096

_Sorted: TypeAlias = tuple[Heads, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class State:
    """What is committed: dimension, number of rows, number of the files."""

    dimension: int
    rows: int = 0
    number: int = 1
    sums: tuple[int, ...] = field(default=())  # `RowSums.state`; none of a matrix without rows or of format 1

    def path(self, folder: Path, ending: str) -> Path:
        """Return the path of one of the files."""
        return folder / f"{self.number:06d}{ending}"

    def encode(self) -> bytes:
        """Return the contents of the state file."""
        return seal(json.dumps(self.as_dict()).encode())

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"format": FORMAT_VERSION, **asdict(self), "sums": list(self.sums)}

    def row_bytes(self) -> dict[str, int]:
        """Return the size of a row in each of the files that have all rows."""
        return {KEYS: KEY_BYTES, ROWS: self.dimension, SCALES: SCALE_BYTES}

    def files(self, folder: Path) -> list[str]:
        """Return the names of the files that the rows depend on."""
        return [STATE, *(self.path(folder, ending).name for ending in (KEYS, ROWS, SCALES, SUMS))]


class Matrix:
    """The rows that were committed when it was opened (snapshot isolation); thread-safe."""

    def __init__(self, folder: Path, state: State) -> None:
        """Memory-map the files of a state; callers use `Matrix.open`."""
        self.folder, self.state = folder, state
        self._stamps = stamps(folder, state.files(folder))
        self.keys: Keys = _mapped(state.path(folder, KEYS), np.dtype(np.uint8), (state.rows, KEY_BYTES))
        self.codes: Codes = _mapped(
            state.path(folder, ROWS), np.dtype(np.int8), (state.rows, state.dimension)
        )
        self.scales: Floats = _mapped(state.path(folder, SCALES), np.dtype("<f4"), (state.rows,))

    @classmethod
    def open(cls, folder: Path, dimension: int) -> Matrix:
        """Memory-map what is committed in a folder; an empty matrix if there is nothing."""
        problem = ""
        for _ in range(_ATTEMPTS):
            state = read_state(folder, dimension)
            try:
                matrix = cls(folder, state)
                problem = matrix.verify()
            except FileNotFoundError as error:
                problem = f"{Path(error.filename).name} is missing"
            if not problem:
                return matrix
            if read_state(folder, dimension) == state:
                break
        raise damaged(folder, problem)

    def __len__(self) -> int:
        return self.state.rows

    @property
    def dimension(self) -> int:
        """How many numbers a row has."""
        return self.state.dimension

    def is_current(self) -> bool:
        """Whether nothing has been committed, and no file touched, since it was opened."""
        return stamps(self.folder, self._stamps) == self._stamps and (
            read_state(self.folder, self.dimension) == self.state
        )

    def verify(self, *, whole: bool = False) -> str:
        """Return what is wrong with the files, "" for nothing; `whole` reads files known to be intact too."""
        verified = VerifiedFiles(self.folder)
        if not self.state.sums or (not whole and verified.has(ROWS, self._stamps)):
            return ""
        wrong = sorted({path.name for _, path in self.damaged_blocks()})
        if not wrong:
            verified.add({ROWS: self._stamps})
        return f"{', '.join(wrong)}: not what was written" if wrong else ""

    def damaged_blocks(self) -> list[tuple[int, Path]]:
        """Return the first row of each damaged block of rows, with the file; reads all of them."""
        sums = self.row_sums()
        if sums is None:
            return [(0, self.state.path(self.folder, SUMS))]
        widths = self.state.row_bytes()
        paths = [self.state.path(self.folder, ending) for ending in widths]
        return list(damaged_blocks(sums, paths, list(widths.values()))) if len(self) else []

    def row_sums(self) -> RowSums | None:
        """Return the checksums of all rows; None if they are damaged. Those of format 1 are computed."""
        if not self.state.sums:
            sums = RowSums()
            for part in blocks(len(self), _CHECK_ROWS):
                columns = (self.keys[part], self.codes[part], self.scales[part])
                sums.add(part.stop - part.start, [each.tobytes() for each in columns])
            return sums
        return read_sums(self.state.path(self.folder, SUMS), len(self), self.state.sums)

    def key(self, row: int) -> bytes:
        """Return the key of one row."""
        return bytes(self.keys[row])

    def find(self, keys: Keys) -> Rows:
        """Return the row of each key, -1 for an unknown key."""
        rows = find_sorted(keys, self.keys, *self._order)
        missing = np.flatnonzero(rows < 0)
        if len(missing) and len(self._tail_order[1]):
            rows[missing] = find_sorted(keys[missing], self.keys, *self._tail_order)
        return rows

    def rows(self, numbers: NDArray[Any]) -> Floats:
        """Return some rows as unit vectors."""
        return restore(self.codes[numbers], self.scales[numbers])

    def problem(self) -> str:
        """Return what is wrong with the rows, "" for nothing; reads all of them."""
        for start in range(0, len(self), _CHECK_ROWS):
            block = self.codes[start : start + _CHECK_ROWS].astype(np.float32)
            scales = self.scales[start : start + _CHECK_ROWS]
            lengths = np.sqrt(np.einsum("ij,ij->i", block, block)) * scales
            wrong = np.flatnonzero(
                ~((np.abs(lengths - 1) < _LENGTH_SLACK) | ((lengths == 0) & (scales == 0)))
            )
            if len(wrong):
                return f"row {start + int(wrong[0])} in {self.folder} is not a unit vector"
        return ""

    def sorted_entries(self) -> NDArray[Any]:
        """Return the contents of an order file for all rows."""
        entries = np.empty(len(self), ORDER_ENTRY)
        by_head = heads(self.keys)
        order = np.argsort(by_head, kind="stable")
        entries["head"], entries["row"] = by_head[order], order
        return entries

    @property
    def is_ordered(self) -> bool:
        """Whether the order file covers all rows."""
        return len(self._order[1]) == len(self)

    @cached_property
    def _order(self) -> _Sorted:
        """The sorted keys of the rows that the order file covers."""
        try:
            entries = np.frombuffer(unseal(self.state.path(self.folder, ORDER).read_bytes()), ORDER_ENTRY)
        except (OSError, ValueError):  # not written yet, removed by compaction, or damaged
            entries = np.empty(0, ORDER_ENTRY)
        if len(entries) > len(self):  # written by a later commit than the one we read
            entries = entries[entries["row"] < len(self)]
        if entries["row"].max(initial=0) >= max(1, len(entries)):  # not the rows 0, 1, 2, …
            entries = np.empty(0, ORDER_ENTRY)
        return np.ascontiguousarray(entries["head"]), np.ascontiguousarray(entries["row"])

    @cached_property
    def _tail_order(self) -> _Sorted:
        """The sorted keys of the rows after those."""
        covered = len(self._order[1])
        tail = heads(self.keys[covered:])
        order = np.argsort(tail, kind="stable")
        return tail[order], order + covered


def read_state(folder: Path, dimension: int) -> State:
    """Return the state of a folder; raises if its vectors have another dimension."""
    try:
        text = (folder / STATE).read_bytes()
    except FileNotFoundError:
        # Rows alone are those of a first commit that failed; the order of keys is written after one.
        if next(folder.glob(f"*{ORDER}"), None) is not None:
            raise damaged(folder, f"{STATE} is missing") from None
        return State(dimension)
    try:
        stored = parse_state(text)
        version = stored.pop("format")
        stored["sums"] = tuple(stored.get("sums", ()))
        state = State(**stored) if version in _READABLE else None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise damaged(folder, f"{STATE} can't be read: {error}") from error
    if state is None:
        raise IndexVersionError(
            f"the vectors in {folder} have format {version}, this dowse reads {FORMAT_VERSION}; "
            "run `dowse index --rebuild`"
        )
    if not all(
        isinstance(n, int) and n >= 0 for n in (state.dimension, state.rows, state.number, *state.sums)
    ):
        raise damaged(folder, f"{STATE} can't be read: not whole numbers")
    if state.dimension != dimension:
        raise DowseError(
            f"the vectors in {folder} have {state.dimension} dimensions, the encoder has {dimension}; "
            "run `dowse index --rebuild`"
        )
    return state


def any_dimension(folder: Path) -> int:
    """Return the dimension of the matrix in a folder, whatever it is; 1 if it is not known."""
    try:
        dimension = parse_state((folder / STATE).read_bytes()).get("dimension")
    except (OSError, ValueError, AttributeError):
        return 1
    return dimension if isinstance(dimension, int) else 1


def damaged(folder: Path, reason: str) -> IndexDamaged:
    """Return the error for vectors that can't be read."""
    return IndexDamaged(
        f"the vectors in {folder} are damaged ({reason}); run `dowse repair`, or `dowse index --rebuild`"
    )


def blocks(count: int, size: int, first: int = 0) -> Iterator[slice]:
    """Yield the rows from `first` up to `count` in slices of at most `size`."""
    for start in range(first, count, size):
        yield slice(start, min(count, start + size))


def _mapped(path: Path, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Memory-map the committed part of a file."""
    wanted = int(np.prod(shape)) * dtype.itemsize
    if not wanted:
        return np.empty(shape, dtype)  # an empty file can't be mapped
    size = path.stat().st_size
    if size < wanted:
        raise damaged(path.parent, f"{path.name} has {size:,} bytes instead of {wanted:,}")
    # A plain array over the map: slices of the subclass `memmap` are slower.
    return np.asarray(np.memmap(path, dtype, "r", shape=shape))
