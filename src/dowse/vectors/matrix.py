"""An append-only matrix of int8 vectors in a folder, memory-mapped by readers.

    state.json       how many rows are committed, and which files hold them; replaced atomically
    000001.keys      16 bytes a row
    000001.rows      one signed byte a dimension
    000001.scales    one float32 a row
    000001.order     the rows sorted by key, of the rows that there were when it was written
    writer.lock      the write lock (dowse.write_lock)

Rows are only appended, and the state is replaced after they have reached the disk: a writer killed in between
leaves bytes beyond the committed rows, which nobody reads. The state has a CRC-32 of each file, which only
`problem` compares. Compaction writes files of the next number and
replaces the state; readers keep the old files open. All names are relative: the folder can be moved.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dowse.damage import damage_error
from dowse.errors import DowseError, IndexVersionError
from dowse.lazy_classes import asdict, dataclass
from dowse.vectors.files import FORMAT_VERSION, ORDER, STATE, parse_state
from dowse.vectors.keys import KEY_BYTES, Heads, Keys, find_sorted, heads
from dowse.vectors.quantize import Codes, Floats, Rows, restore

# Format 2 had no checksums of whole files; the next writer adds them.
_READABLE = (2, FORMAT_VERSION)
KEYS, ROWS, SCALES = ".keys", ".rows", ".scales"
SCALE_BYTES = 4
# One entry of the order file: the head (first eight bytes) of a key, and its row.
ORDER_ENTRY = np.dtype([("head", "<u8"), ("row", "<u4")])
# Compaction may replace the files between reading the state and opening them: then try again.
_ATTEMPTS = 20
_CHECK_BYTES = 1 << 20

_Sorted: TypeAlias = tuple[Heads, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class State:
    """What is committed: dimension, number of rows, number of the files."""

    dimension: int
    rows: int = 0
    number: int = 1
    checksums: tuple[int, ...] = ()  # CRC-32 of the committed keys, rows and scales; none of format 2

    def path(self, folder: Path, ending: str) -> Path:
        """Return the path of one of the files."""
        return folder / f"{self.number:06d}{ending}"

    def encode(self) -> bytes:
        """Return the contents of the state file."""
        return json.dumps(self.as_dict()).encode()

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"format": FORMAT_VERSION, **asdict(self), "checksums": list(self.checksums)}

    def row_bytes(self) -> dict[str, int]:
        """Return the size of a row in each of the files that have all rows."""
        return {KEYS: KEY_BYTES, ROWS: self.dimension, SCALES: SCALE_BYTES}


class Matrix:
    """The rows that were committed when it was opened (snapshot isolation); thread-safe."""

    def __init__(self, folder: Path, state: State) -> None:
        """Memory-map the files of a state; callers use `Matrix.open`."""
        self.folder, self.state = folder, state
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
                if len(matrix) and not 0.0 <= matrix.scales.min() <= matrix.scales.max() <= 1.0:
                    raise damage_error(folder, f"{SCALES} has impossible numbers")
                return matrix
            except FileNotFoundError as error:
                problem = f"{Path(error.filename).name} is missing"
            if read_state(folder, dimension) == state:
                break
        raise damage_error(folder, problem)

    def __len__(self) -> int:
        return self.state.rows

    @property
    def dimension(self) -> int:
        """How many numbers a row has."""
        return self.state.dimension

    def is_current(self) -> bool:
        """Whether nothing has been committed since it was opened."""
        return read_state(self.folder, self.dimension) == self.state

    def checksums(self) -> tuple[int, ...]:
        """Return the CRC-32 of the committed part of each file; reads all of it."""
        return tuple(
            _checksum(self.state.path(self.folder, ending), width * len(self))
            for ending, width in self.state.row_bytes().items()
        )

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
        """Return what is wrong with the files, "" for nothing; reads all of them."""
        if not self.state.checksums or self.checksums() == self.state.checksums:
            return ""
        return f"the vectors in {self.folder} are not what was written"

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
            entries = np.frombuffer(self.state.path(self.folder, ORDER).read_bytes(), ORDER_ENTRY)
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
        return State(dimension)  # of a first commit that failed, or of a removal: nothing is committed
    try:
        stored = parse_state(text)
        version = stored.pop("format")
        stored.pop("sums", None)  # of format 2
        stored["checksums"] = tuple(stored.get("checksums", ()))
        state = State(**stored) if version in _READABLE else None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise damage_error(folder, f"{STATE} can't be read: {error}") from error
    if state is None:
        raise IndexVersionError(
            f"the vectors in {folder} have format {version}, this dowse reads {FORMAT_VERSION}; "
            "run `dowse index --rebuild`"
        )
    if not all(
        isinstance(n, int) and n >= 0 for n in (state.dimension, state.rows, state.number, *state.checksums)
    ):
        raise damage_error(folder, f"{STATE} can't be read: not whole numbers")
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
        raise damage_error(path.parent, f"{path.name} has {size:,} bytes instead of {wanted:,}")
    # A plain array over the map: slices of the subclass `memmap` are slower.
    return np.asarray(np.memmap(path, dtype, "r", shape=shape))


def _checksum(path: Path, size: int) -> int:
    """Return the CRC-32 of the first bytes of a file."""
    checksum = 0
    if size:
        with open(path, "rb") as file:
            while size and (block := file.read(min(size, _CHECK_BYTES))):
                checksum, size = zlib.crc32(block, checksum), size - len(block)
    return checksum
