"""IVF (inverted file index) with 1-bit quantisation: approximate nearest neighbours of a large matrix.

Three steps, each on fewer rows and more bits than the one before:

1. Coarse quantisation: rows are in inverted lists by their nearest centroid. The lists whose centroids are
   nearest to the query are probed (Jégou, Douze & Schmid 2011).
2. 1-bit quantisation: of each row in those lists, the sign of every dimension of the residual (row minus mean
   of its list) after a random rotation. The number of differing bits estimates the angle (Charikar 2002).
3. Reranking: the rows that look nearest are scored exactly, from the matrix.

Filters are applied before candidates are cut. Rows that were added after the lists were built are scored
exactly. How many lists to probe was measured when they were built (see `ivf_build`).

Lists alone would not do: a text and the code that it describes are far apart in many dimensions, and the
100 nearest of 150,000 are spread over half of the lists. Bits alone would have to read every row.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dowse.lazy_classes import dataclass, fields
from dowse.security.safe_files import write_atomically
from dowse.vectors.exact import (
    Neighbours,
    Query,
    as_mask,
    coarse_scores,
    differing_bits,
    exact_search,
    prepare,
    scan,
    select,
)
from dowse.vectors.matrix import Matrix
from dowse.vectors.quantize import Bits, Floats, Mask, Rows

FILE = ".approx"
FORMAT_VERSION = 3
# Arrays in the file begin at multiples of this.
_ALIGNMENT = 64
# Rows that are reranked: at least, and for each wanted row.
MIN_RERANKED = 1000
_RERANKED_PER_ROW = 40
# Up to so many allowed rows, exact search is as fast, and misses nothing.
EXACT_UP_TO = 20_000
# More than any row can differ in: marks a row that is not allowed.
_EXCLUDED = np.iinfo(np.uint16).max


@dataclass(frozen=True)
class IvfIndex:
    """Inverted lists of rows with their 1-bit codes; memory-mapped."""

    centroids: Floats  # (lists, dimension)
    starts: Rows  # where each list begins, and the end
    order: NDArray[np.uint32]  # the row at each position of the lists
    bits: Bits  # the 1-bit code at each position
    rotation: Floats  # (dimension, dimension)
    lengths: Floats  # of the mean of each list, which has the direction of its centroid
    depths: Rows  # for so many nearest rows …
    probes: Rows  # … probe so many lists
    recall: float  # at 100, measured when the lists were made
    fitted: int  # rows there were when the centroids were fitted
    last_key: str  # of the last row in a list: tells whether the lists belong to a matrix

    def __len__(self) -> int:
        return len(self.order)

    def encode(self, vectors: Floats, lists: Rows) -> Bits:
        """Return the 1-bit codes of vectors, given the list of each."""
        residuals = vectors - self.centroids[lists] * self.lengths[lists, None]
        return np.packbits(residuals @ self.rotation > 0, axis=1)

    def probe_count(self, depth: float) -> int:
        """Return how many lists hold nearly all of so many nearest rows."""
        return int(np.ceil(np.interp(depth, self.depths, self.probes)))


def ivf_search(
    index: IvfIndex,
    matrix: Matrix,
    vector: NDArray[Any],
    k: int,
    allowed: Mask | Rows | None = None,
) -> Neighbours:
    """Return k rows near to a vector, nearly always the nearest; arguments as for `exact_search`."""
    mask, count = None, len(matrix)
    if allowed is not None:
        mask = as_mask(allowed, len(matrix))
        count = int(np.count_nonzero(mask))
    if count <= max(EXACT_UP_TO, k):
        return exact_search(matrix, vector, k, mask)
    query = prepare(vector, matrix.dimension)
    probes = index.probe_count(k * len(matrix) / count)
    near = _probe(index, matrix, query, probes, max(MIN_RERANKED, _RERANKED_PER_ROW * k), mask)
    nearest = select(matrix, query, itertools.chain(near, scan(matrix, query, mask, len(index))), k)
    return nearest if len(nearest.rows) == min(k, count) else exact_search(matrix, vector, k, mask)


def _probe(
    index: IvfIndex, matrix: Matrix, query: Query, probes: int, rerank: int, mask: Mask | None
) -> Iterator[tuple[Rows, Floats]]:
    """Yield the rows of the nearest lists that look nearest by their bits, with scores."""
    vector = query.exact.astype(np.float32)
    scores = index.centroids @ vector
    lists = np.sort(np.argpartition(-scores, min(probes, len(scores)) - 1)[:probes])
    starts, stops = _merge_ranges(index.starts[lists], index.starts[lists + 1])
    ends = np.cumsum(stops - starts)
    code = np.packbits(vector @ index.rotation > 0)
    differing = np.empty(ends[-1], np.uint16)
    for start, stop, end in zip(starts.tolist(), stops.tolist(), ends.tolist(), strict=True):
        differing[end - (stop - start) : end] = differing_bits(code, index.bits[start:stop])
    sizes = index.starts[lists + 1] - index.starts[lists]
    differing += np.repeat(_list_offsets(index, scores * index.lengths)[lists], sizes)
    if mask is not None:
        order = np.concatenate([index.order[a:b] for a, b in zip(starts, stops, strict=True)])
        differing[~mask[order]] = _EXCLUDED
    chosen = _smallest(differing, rerank)
    rows = index.order[chosen + (stops - ends)[np.searchsorted(ends, chosen, side="right")]]
    yield rows.astype(np.int64), coarse_scores(matrix.codes[rows], matrix.scales[rows], query)


def _list_offsets(index: IvfIndex, cosines: Floats) -> NDArray[np.uint16]:
    """Return for each list how many differing bits its centroid is behind the nearest one.

    A row is the mean of its list plus a residual of length r. The cosine of the mean is known, and each of d
    bits that differs takes r π / d from the cosine (residuals are nearly orthogonal to the query).
    """
    residual = np.sqrt(max(0.0, 1 - float(np.mean(index.lengths**2))))
    bits = (cosines.max() - cosines) * index.centroids.shape[1] / (np.pi * max(residual, 0.1))
    return np.asarray(np.rint(bits), np.uint16)


def _merge_ranges(starts: Rows, stops: Rows) -> tuple[Rows, Rows]:
    """Merge adjacent ranges."""
    apart = np.flatnonzero(starts[1:] != stops[:-1])
    return starts[np.append(0, apart + 1)], stops[np.append(apart, len(stops) - 1)]


def _smallest(values: NDArray[np.uint16], wanted: int) -> Rows:
    """Return the positions of the smallest values, with all ties of the last."""
    threshold = _EXCLUDED - 1
    if len(values) > wanted:
        threshold = min(threshold, int(np.partition(values, wanted)[wanted]))
    return np.flatnonzero(values <= threshold)


def load(matrix: Matrix) -> IvfIndex | None:
    """Memory-map the IVF index of a matrix; None if there is none that fits and can be read."""
    path = matrix.state.path(matrix.folder, FILE)
    try:
        with open(path, "rb") as file:
            header = json.loads(file.readline())
            if header.pop("format") != FORMAT_VERSION:
                return None
            # Through the open file: there may be a newer one at its path by now.
            arrays: dict[str, Any] = {
                name: np.asarray(np.memmap(file, dtype, "r", offset, tuple(shape)))
                for name, (dtype, offset, shape) in header.pop("arrays").items()
            }
        index = IvfIndex(**arrays, **header)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    covered = len(index)
    if not 0 < covered <= len(matrix) or matrix.key(covered - 1).hex() != index.last_key:
        return None
    return index if index.order.max() < covered and _are_ends(index.starts, covered) else None


def _are_ends(starts: Rows, end: int) -> bool:
    """Whether lists begin one after the other, up to an end: else the file is damaged."""
    return bool(starts[0] == 0 and starts[-1] == end and (starts[1:] >= starts[:-1]).all())


def save(index: IvfIndex, matrix: Matrix) -> None:
    """Write the IVF index beside its matrix, atomically."""
    values = {field.name: getattr(index, field.name) for field in fields(index)}
    arrays = {n: np.ascontiguousarray(v) for n, v in values.items() if isinstance(v, np.ndarray)}
    header: dict[str, Any] = {n: v for n, v in values.items() if n not in arrays}
    header |= {"format": FORMAT_VERSION, "arrays": {n: (v.dtype.str, 0, v.shape) for n, v in arrays.items()}}
    # Reserve room for the digits of the offsets.
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
