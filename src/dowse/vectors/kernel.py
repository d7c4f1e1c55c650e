"""Dot products of int8 vectors and Hamming distances of bits: the inner loops of every search.

`simsimd` uses SIMD instructions and is 2 to 5 times as fast as NumPy, which has to convert int8 to float32
first. Both give the same whole numbers, so nothing depends on which of them is installed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dowse.vectors.quantize import Bits, Codes, Floats

try:
    from simsimd import cdist
except ImportError:  # no wheel for this platform
    cdist = None  # type: ignore[assignment, unused-ignore]

# Rows converted at a time: those of 384 dimensions then just fit the L2 cache.
_FLOAT_ROWS = 1024


def dots(query: Codes, rows: Codes) -> NDArray[Any]:
    """Return the whole-number dot product of `query` with each row, as floats."""
    if cdist is None or not len(rows):
        return dots_with_numpy(query, rows)
    return np.asarray(cdist(query[None], rows, "dot")).reshape(-1)


def dots_with_numpy(query: Codes, rows: Codes) -> Floats:
    """Do the same in NumPy; exact up to 1,040 dimensions, where sums exceed the integers of float32."""
    wide = query.astype(np.float32)
    found = np.empty(len(rows), np.float32)
    block = np.empty((min(_FLOAT_ROWS, len(rows)), len(query)), np.float32)
    for start in range(0, len(rows), _FLOAT_ROWS):
        part = block[: min(_FLOAT_ROWS, len(rows) - start)]
        np.copyto(part, rows[start : start + len(part)])
        np.dot(part, wide, out=found[start : start + len(part)])
    return found


def differing_bits(query: Bits, rows: Bits) -> NDArray[Any]:
    """Return the Hamming distance of each row from `query`."""
    if cdist is None or not len(rows):
        return np.asarray(np.bitwise_count(rows ^ query).sum(axis=1, dtype=np.uint16))
    return np.asarray(cdist(query[None], rows, "hamming", dtype="bin8")).reshape(-1)
