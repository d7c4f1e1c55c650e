"""Exact nearest neighbours in a matrix: every allowed row is scored.

Two steps give the exact answer at the price of int8 arithmetic. The query is quantised too, and the whole
matrix is scored with int8 dot products. The error of such a score is bounded by the length of the query's
quantisation error, so few rows can be among the first k, and only those are rescored with the exact query.

The inner loops (dot products of int8 vectors, Hamming distances of bits) use `simsimd`, whose SIMD
instructions are 2 to 5 times as fast as NumPy, which has to convert int8 to float32 first. Both give the same
whole numbers, so nothing depends on which of them is installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dowse.lazy_classes import NamedTuple, dataclass
from dowse.vectors.matrix import Matrix, blocks
from dowse.vectors.quantize import Bits, Codes, Floats, Mask, Rows, quantise

try:
    from simsimd import cdist
except ImportError:  # no wheel for this platform
    cdist = None  # type: ignore[assignment, unused-ignore]

# Rows scored at a time: their scores stay in the CPU cache until they are filtered.
BLOCK = 16_384
# Rows converted at a time: those of 384 dimensions then just fit the L2 cache.
_FLOAT_ROWS = 1024
# Gathering a row costs about this many times as much as scoring it in place.
_GATHER_COST = 4
# What float32 rounding can add to the error bound, generously.
_ROUNDING = 1e-5
# Candidates are pruned when there are this many times k.
SURPLUS = 8
MIN_SURPLUS = 4096


class Neighbours(NamedTuple):
    """Rows and their cosines, the nearest first; ties by row."""

    rows: Rows
    scores: Floats


@dataclass(frozen=True, slots=True)
class Query:
    """A query as a unit vector, and quantised."""

    exact: NDArray[np.float64]
    codes: Codes
    scale: float
    error: float  # bounds the error of any cosine that is computed from the codes


def exact_search(
    matrix: Matrix, vector: NDArray[Any], k: int, allowed: Mask | Rows | None = None
) -> Neighbours:
    """Return the k rows nearest to a vector, whose direction counts; zeros are equally near to all.

    `allowed` is a boolean mask, or row numbers; fewer than k are returned only if fewer are allowed.
    """
    query = prepare(vector, matrix.dimension)
    if allowed is None:
        return select(matrix, query, scan(matrix, query, None), k)
    mask = as_mask(allowed, len(matrix))
    if np.count_nonzero(mask) * _GATHER_COST < len(matrix):
        return select(matrix, query, _scan_rows(matrix, query, np.flatnonzero(mask)), k)
    return select(matrix, query, scan(matrix, query, mask), k)


def prepare(vector: NDArray[Any], dimension: int) -> Query:
    """Normalise and quantise a query."""
    exact = np.asarray(vector, np.float64)
    if exact.shape != (dimension,):
        raise ValueError(f"a query of shape {exact.shape}, the matrix has {dimension} dimensions")
    if not np.isfinite(exact).all():
        raise ValueError("a query holds a value that is not a finite number")
    largest = np.abs(exact).max(initial=0.0)
    if largest > 0:  # in two steps: squares of tiny numbers would underflow
        exact = exact / largest
        exact = exact / np.linalg.norm(exact)
    codes, _ = quantise(exact[None])
    scale = float(np.abs(exact).max(initial=0.0)) / 127
    error = float(np.linalg.norm(exact - codes[0] * scale))
    return Query(exact, codes[0], scale, error + _ROUNDING)


def as_mask(allowed: Mask | Rows, count: int) -> Mask:
    """Return a boolean mask of the allowed rows."""
    if allowed.dtype == np.bool_:
        if allowed.shape != (count,):
            raise ValueError(f"a mask of shape {allowed.shape} for {count} rows")
        return allowed.astype(np.bool_, copy=False)
    if len(allowed) and not 0 <= allowed.min() <= allowed.max() < count:
        raise ValueError("allowed rows that are not there")
    mask = np.zeros(count, np.bool_)
    mask[allowed.astype(np.int64, copy=False)] = True
    return mask


def select(matrix: Matrix, query: Query, scored: Iterable[tuple[Rows, Floats]], k: int) -> Neighbours:
    """Return the best k of rows whose scores have an error of at most `query.error`."""
    if k <= 0:
        return Neighbours(np.empty(0, np.int64), np.empty(0, np.float32))
    candidates = _candidates(scored, k, 2 * query.error)
    scores = rescore(matrix.codes[candidates], matrix.scales[candidates], query)
    order = np.lexsort((candidates, -scores))[:k]
    return Neighbours(candidates[order], scores[order])


def rescore(codes: Codes, scales: Floats, query: Query) -> Floats:
    """Return the cosines of rows with the exact query.

    In float64 the sum of a row does not depend on its position in the block; in float32 it would, and ties
    would be broken at random.
    """
    return ((codes.astype(np.float64) @ query.exact) * scales).astype(np.float32)


def _candidates(scored: Iterable[tuple[Rows, Floats]], k: int, margin: float) -> Rows:
    """Return all rows whose score is at most `margin` below the k-th best."""
    rows: list[Rows] = []
    scores: list[Floats] = []
    held, floor = 0, -np.inf
    for block_rows, block_scores in scored:
        above = np.flatnonzero(block_scores >= floor)
        rows.append(block_rows[above])
        scores.append(block_scores[above])
        held += len(above)
        if held > max(SURPLUS * k, MIN_SURPLUS):
            kept_rows, kept_scores = np.concatenate(rows), np.concatenate(scores)
            floor = _floor(kept_scores, k, margin)
            keep = kept_scores >= floor
            rows, scores = [kept_rows[keep]], [kept_scores[keep]]
            held = len(rows[0])
    if not rows:
        return np.empty(0, np.int64)
    last = np.concatenate(scores)
    return np.concatenate(rows)[last >= _floor(last, k, margin)]


def _floor(scores: Floats, k: int, margin: float) -> float:
    """Return the lowest score that can still be among the k best."""
    if len(scores) <= k:
        return -np.inf
    return float(np.partition(scores, len(scores) - k)[len(scores) - k]) - margin


def scan(matrix: Matrix, query: Query, mask: Mask | None, first: int = 0) -> Iterator[tuple[Rows, Floats]]:
    """Yield all rows from `first` on with int8 scores, block by block; only those in the mask."""
    for part in blocks(len(matrix), BLOCK, first):
        scores = coarse_scores(matrix.codes[part], matrix.scales[part], query)
        if mask is None:
            yield np.arange(part.start, part.stop), scores
        else:
            inside = np.flatnonzero(mask[part])
            yield inside + part.start, scores[inside]


def _scan_rows(matrix: Matrix, query: Query, chosen: Rows) -> Iterator[tuple[Rows, Floats]]:
    """Yield some rows with int8 scores, block by block."""
    for part in blocks(len(chosen), BLOCK):
        numbers = chosen[part]
        yield numbers, coarse_scores(matrix.codes[numbers], matrix.scales[numbers], query)


def coarse_scores(codes: Codes, scales: Floats, query: Query) -> Floats:
    """Return cosines with the quantised query."""
    scores = np.empty(len(codes), np.float32)
    np.multiply(dots(query.codes, codes), scales, out=scores, casting="unsafe")
    scores *= np.float32(query.scale)
    return scores


def dots(query: Codes, rows: Codes) -> NDArray[Any]:
    """Return the whole-number dot product of `query` with each row, as floats."""
    if cdist is None or not len(rows):
        return dots_with_numpy(query, rows)
    return np.asarray(cdist(query[None], rows, "dot")).reshape(-1)


def dots_with_numpy(query: Codes, rows: Codes) -> Floats:
    """Do the same in NumPy; exact up to 1,040 dimensions, where sums exceed the integers of float32."""
    wide = query.astype(np.float32)
    products = np.empty(len(rows), np.float32)
    block = np.empty((min(_FLOAT_ROWS, len(rows)), len(query)), np.float32)
    for start in range(0, len(rows), _FLOAT_ROWS):
        part = block[: min(_FLOAT_ROWS, len(rows) - start)]
        np.copyto(part, rows[start : start + len(part)])
        np.dot(part, wide, out=products[start : start + len(part)])
    return products


def differing_bits(query: Bits, rows: Bits) -> NDArray[Any]:
    """Return the Hamming distance of each row from `query`."""
    if cdist is None or not len(rows):
        return np.asarray(np.bitwise_count(rows ^ query).sum(axis=1, dtype=np.uint16))
    return np.asarray(cdist(query[None], rows, "hamming", dtype="bin8")).reshape(-1)
