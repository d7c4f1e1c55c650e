"""Checksums of the rows of a matrix, by blocks: damage is found, and what it did not touch is kept.

    000001.sums     of each whole block of rows three CRC-32: of its keys, its rows and its scales

Whole blocks never change. The state has the checksums of the rows after the last of them, and that of the
list itself.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

BLOCK_ROWS = 1024
SUMS = ".sums"
BLOCK_BYTES = 12
_BLOCK = struct.Struct("<III")
Tail = tuple[int, int, int]


@dataclass(slots=True)
class RowSums:
    """The checksums of rows that are appended, in three files at once."""

    rows: int = 0
    blocks: bytes = b""
    tail: Tail = (0, 0, 0)

    def add(self, count: int, parts: Sequence[bytes]) -> None:
        """Add the bytes of some rows: of keys, rows and scales."""
        done = 0
        while done < count:
            taken = min(count - done, BLOCK_ROWS - self.rows % BLOCK_ROWS)
            pieces = (
                memoryview(part)[done * (width := len(part) // count) : (done + taken) * width]
                for part in parts
            )
            keys, rows, scales = map(zlib.crc32, pieces, self.tail)
            self.tail, self.rows, done = (keys, rows, scales), self.rows + taken, done + taken
            if not self.rows % BLOCK_ROWS:
                self.blocks, self.tail = self.blocks + _BLOCK.pack(*self.tail), (0, 0, 0)

    @property
    def state(self) -> tuple[int, ...]:
        """What the state of the matrix has of them."""
        return zlib.crc32(self.blocks), *self.tail

    def copy(self) -> RowSums:
        """Return the same, to be added to."""
        return RowSums(self.rows, self.blocks, self.tail)


def read_sums(path: Path, rows: int, state: Sequence[int]) -> RowSums | None:
    """Return the checksums of committed rows; None if they are damaged."""
    wanted = rows // BLOCK_ROWS * BLOCK_BYTES
    blocks = b""
    if wanted:
        try:
            blocks = path.read_bytes()[:wanted]
        except OSError:
            return None
    sums = RowSums(rows, blocks, (state[1], state[2], state[3]))
    return sums if len(blocks) == wanted and sums.state == tuple(state) else None


def damaged_blocks(sums: RowSums, paths: Sequence[Path], widths: Sequence[int]) -> Iterator[tuple[int, Path]]:
    """Yield the first row of each block that is not what was written, with the file; reads all of them."""
    for column, (path, width) in enumerate(zip(paths, widths, strict=True)):
        with open(path, "rb", buffering=0) as file:
            for first in range(0, sums.rows, BLOCK_ROWS):
                count = min(BLOCK_ROWS, sums.rows - first)
                at = first // BLOCK_ROWS * BLOCK_BYTES
                known = _BLOCK.unpack_from(sums.blocks, at) if count == BLOCK_ROWS else sums.tail
                if zlib.crc32(file.read(count * width)) != known[column]:
                    yield first, path
