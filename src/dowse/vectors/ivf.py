"""The nearest rows of a large matrix, nearly all of them, in a fraction of the time.

Three steps, each on fewer rows and more bits than the one before:

1. rows are in lists by their nearest centre; the lists whose centres are nearest to the query are taken;
2. each of their rows is 1 bit a dimension (on which side of its list's mean it lies, after a random rotation
   that makes all dimensions matter alike): those that seem nearest by the mean and the bits are taken;
3. those are scored exactly, from the matrix.

Filters act before anything is left out by rank. Rows that were added after the lists were made are scored
exactly. How many lists a search takes was measured when they were made (see `approx_fit`).

Lists alone would not do: a text and the code that it describes lie far apart in many dimensions, and the
100 nearest of 150,000 are spread over half of the lists. Bits alone read every row.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dowse.security.safe_files import write_atomically
from dowse.vectors.exact import Neighbours, Query, as_mask, coarse_scores, exact_top, prepare, scan, select
from dowse.vectors.kernel import differing_bits
from dowse.vectors.matrix import Matrix
from dowse.vectors.quantize import Bits, Floats, Mask, Rows

FILE = ".approx"
FORMAT_VERSION = 1
# Arrays in the file begin at multiples of this.
_ALIGNMENT = 64
# Rows that the third step scores: at least, and for each row that is asked for.
_RESCORED_LEAST = 1000
_RESCORED_PER_ROW = 40
# Up to so many, scoring just the allowed rows exactly is as fast, and misses nothing.
_NARROW = 20_000
# More bits than any row can differ in: that of a row that is not allowed.
_NEVER = np.iinfo(np.uint16).max


@dataclass(frozen=True)
class ApproxIndex:
    """Lists of rows, as bits."""

    centres: Floats  # (lists, dimension)
    starts: Rows  # where each list begins, and the end
    order: NDArray[np.uint32]  # the row at each place
    bits: Bits  # the bits at each place
    rotation: Floats  # (dimension, dimension)
    lengths: Floats  # of the mean of each list, which has the direction of its centre
    depths: Rows  # for so many nearest rows …
    probes: Rows  # … take so many lists
    recall: float  # at 100, measured when the lists were made
    fitted: int  # rows there were when the centres were fitted
    last_key: str  # of the last row that is in a list: tells whether this is the matrix they were made for

    def __len__(self) -> int:
        return len(self.order)

    def signs(self, vectors: Floats, lists: Rows) -> Bits:
        """Return the bits of vectors that are in some lists."""
        rests = vectors - self.centres[lists] * self.lengths[lists, None]
        return np.packbits(rests @ self.rotation > 0, axis=1)

    def lists_for(self, depth: float) -> int:
        """Return how many lists hold nearly all of so many nearest rows."""
        return int(np.ceil(np.interp(depth, self.depths, self.probes)))


def approx_top(
    index: ApproxIndex,
    matrix: Matrix,
    vector: NDArray[Any],
    k: int,
    allowed: Mask | Rows | None = None,
) -> Neighbours:
    """Return k rows near to a vector, nearly always the nearest; arguments as `exact_top` has them."""
    mask, count = None, len(matrix)
    if allowed is not None:
        mask = as_mask(allowed, len(matrix))
        count = int(np.count_nonzero(mask))
    if count <= max(_NARROW, k):
        return exact_top(matrix, vector, k, mask)
    query = prepare(vector, matrix.dimension)
    probes = index.lists_for(k * len(matrix) / count)
    near = _near(index, matrix, query, probes, max(_RESCORED_LEAST, _RESCORED_PER_ROW * k), mask)
    found = select(matrix, query, itertools.chain(near, scan(matrix, query, mask, len(index))), k)
    return found if len(found.rows) == min(k, count) else exact_top(matrix, vector, k, mask)


def _near(
    index: ApproxIndex, matrix: Matrix, query: Query, probes: int, wanted: int, mask: Mask | None
) -> Iterator[tuple[Rows, Floats]]:
    """Score the rows in the nearest lists that seem nearest by their bits."""
    vector = query.exact.astype(np.float32)
    scores = index.centres @ vector
    lists = np.sort(np.argpartition(-scores, min(probes, len(scores)) - 1)[:probes])
    starts, stops = _joined(index.starts[lists], index.starts[lists + 1])
    ends = np.cumsum(stops - starts)
    signs = np.packbits(vector @ index.rotation > 0)
    differing = np.empty(ends[-1], np.uint16)
    for start, stop, end in zip(starts.tolist(), stops.tolist(), ends.tolist(), strict=True):
        differing[end - (stop - start) : end] = differing_bits(signs, index.bits[start:stop])
    sizes = index.starts[lists + 1] - index.starts[lists]
    differing += np.repeat(_handicaps(index, scores * index.lengths)[lists], sizes)
    if mask is not None:
        order = np.concatenate([index.order[a:b] for a, b in zip(starts, stops, strict=True)])
        differing[~mask[order]] = _NEVER
    chosen = _smallest(differing, wanted)
    rows = index.order[chosen + (stops - ends)[np.searchsorted(ends, chosen, side="right")]]
    yield rows.astype(np.int64), coarse_scores(matrix.codes[rows], matrix.scales[rows], query)


def _handicaps(index: ApproxIndex, cosines: Floats) -> NDArray[np.uint16]:
    """Return for each list how many differing bits it is behind the nearest one.

    A row is the middle of its list and a rest of length r; the middle's cosine is known, and of d bits each
    that differs takes r π / d from the cosine (for the small angles to 90° that all rests have).
    """
    rest = np.sqrt(max(0.0, 1 - float(np.mean(index.lengths**2))))
    bits = (cosines.max() - cosines) * index.centres.shape[1] / (np.pi * max(rest, 0.1))
    return np.asarray(np.rint(bits), np.uint16)


def _joined(starts: Rows, stops: Rows) -> tuple[Rows, Rows]:
    """Join pieces that follow each other."""
    apart = np.flatnonzero(starts[1:] != stops[:-1])
    return starts[np.append(0, apart + 1)], stops[np.append(apart, len(stops) - 1)]


def _smallest(values: NDArray[np.uint16], wanted: int) -> Rows:
    """Return where the smallest values are, all that equal the last of them included."""
    most = _NEVER - 1
    if len(values) > wanted:
        most = min(most, int(np.partition(values, wanted)[wanted]))
    return np.flatnonzero(values <= most)


def load(matrix: Matrix) -> ApproxIndex | None:
    """Map the lists of a matrix; None if there are none, or they belong to another or can't be read."""
    path = matrix.state.path(matrix.folder, FILE)
    try:
        with open(path, "rb") as file:
            header = json.loads(file.readline())
            if header.pop("format") != FORMAT_VERSION:
                return None
            # By the open file: at its path there may be a newer one by now.
            arrays: dict[str, Any] = {
                name: np.asarray(np.memmap(file, dtype, "r", offset, tuple(shape)))
                for name, (dtype, offset, shape) in header.pop("arrays").items()
            }
        index = ApproxIndex(**arrays, **header)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    covered = len(index)
    if not 0 < covered <= len(matrix) or matrix.key(covered - 1).hex() != index.last_key:
        return None
    return index


def save(index: ApproxIndex, matrix: Matrix) -> None:
    """Write the lists beside their matrix, in one step."""
    values = {field.name: getattr(index, field.name) for field in fields(index)}
    arrays = {n: np.ascontiguousarray(v) for n, v in values.items() if isinstance(v, np.ndarray)}
    header: dict[str, Any] = {n: v for n, v in values.items() if n not in arrays}
    header |= {"format": FORMAT_VERSION, "arrays": {n: (v.dtype.str, 0, v.shape) for n, v in arrays.items()}}
    # Offsets have fewer digits than this much room.
    offset = _aligned(len(json.dumps(header)) + 24 * len(arrays))
    begin = offset
    for name, array in arrays.items():
        header["arrays"][name] = (array.dtype.str, offset, array.shape)
        offset = _aligned(offset + array.nbytes)
    parts = [json.dumps(header).encode().ljust(begin - 1) + b"\n"]
    parts += [array.tobytes().ljust(_aligned(array.nbytes), b"\0") for array in arrays.values()]
    write_atomically(matrix.state.path(matrix.folder, FILE), b"".join(parts))


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
