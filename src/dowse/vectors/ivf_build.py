"""Building an IVF index, updating it incrementally, and measuring its recall."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dowse.lazy_classes import replace
from dowse.vectors.exact import exact_search
from dowse.vectors.ivf import IvfIndex, ivf_search, load, save
from dowse.vectors.kmeans import kmeans, matrix_centroids, matrix_labels, nearest_centroids
from dowse.vectors.matrix import Matrix, blocks
from dowse.vectors.quantize import Bits, Floats, Rows

# From so many rows on, approximate search is worth it.
IVF_FROM = 100_000
# Average rows in a list; shorter lists are more selective and cost more calls.
_LIST_ROWS = 500
# Iterations of k-means: most of the build time, and later ones move few rows.
_ITERATIONS = 8
# The share of the nearest rows that the probed lists must hold; 1-bit codes lose another percent.
_LIST_RECALL = 0.993
_DEPTHS = (10, 100, 1000)
_HELD_OUT = 200
# Without held-out queries, rows with noise serve as queries. This is their cosine with the row: about that
# of a text and the code it describes, so that the probes that suffice for them suffice for texts.
_NOISY_COSINE = 0.5
# New rows are added to the lists when they are this share of all; centroids are refitted when the matrix
# has grown by this factor.
_TAIL_SHARE = 0.05
_REFIT_GROWTH = 2.0
_BIT_ROWS = 16_384


def refresh(matrix: Matrix, queries: Callable[[], Floats] | None = None) -> IvfIndex:
    """Build, extend or keep the IVF index of a committed matrix; the caller holds the write lock.

    `queries` returns typical query vectors to measure recall with; it is called only for a new index.
    """
    index = load(matrix)
    if index is not None and len(matrix) <= _REFIT_GROWTH * index.fitted:
        if len(matrix) - len(index) <= _TAIL_SHARE * len(matrix):
            return index
        index = extend(index, matrix)
    else:
        index = fit(matrix, queries() if queries else None)
    save(index, matrix)
    return index


def fit(
    matrix: Matrix, queries: Floats | None = None, *, lists: int | None = None, seed: int = 0
) -> IvfIndex:
    """Build the lists for all rows, and measure how many of them a search has to probe."""
    lists = lists or max(1, len(matrix) // _LIST_ROWS)
    centroids = _sort_by_proximity(matrix_centroids(matrix, lists, seed, iterations=_ITERATIONS))
    labels, cosines = matrix_labels(matrix, centroids)
    sizes = np.bincount(labels, minlength=len(centroids))
    random = np.random.default_rng(seed)
    rotation = random_rotation(matrix.dimension, random)
    everything = np.array([len(centroids)])
    index = IvfIndex(
        centroids=centroids,
        starts=_starts(sizes),
        order=np.argsort(labels, kind="stable").astype(np.uint32),
        bits=np.empty((0, 0), np.uint8),
        rotation=rotation,
        lengths=(np.bincount(labels, cosines, len(centroids)) / np.maximum(sizes, 1)).astype(np.float32),
        depths=np.array([1]),
        probes=everything,
        recall=0.0,
        fitted=len(matrix),
        last_key=matrix.key(len(matrix) - 1).hex(),
    )
    index = replace(index, bits=_row_bits(index, matrix, labels)[index.order])
    if queries is None or not len(queries):  # code without documentation has no sentences to ask with
        queries = noisy_rows(matrix, _HELD_OUT, random)
    held_out = queries[:_HELD_OUT]
    depths, probes = _measure_probes(index, matrix, held_out, labels)
    index = replace(index, depths=depths, probes=probes)
    return replace(index, recall=recall(index, matrix, held_out))


def extend(index: IvfIndex, matrix: Matrix) -> IvfIndex:
    """Add the rows that came after the lists were built."""
    covered = len(index)
    old = np.empty(covered, np.int64)
    old[index.order] = np.repeat(np.arange(len(index.centroids)), np.diff(index.starts))
    new = matrix_labels(matrix, index.centroids, covered)[0]
    labels = np.concatenate([old, new])
    bits = np.empty((len(matrix), index.bits.shape[1]), np.uint8)
    bits[index.order] = index.bits
    bits[covered:] = _row_bits(index, matrix, new)
    order = np.argsort(labels, kind="stable")
    return replace(
        index,
        starts=_starts(np.bincount(labels, minlength=len(index.centroids))),
        order=order.astype(np.uint32),
        bits=bits[order],
        last_key=matrix.key(len(matrix) - 1).hex(),
    )


def recall(index: IvfIndex, matrix: Matrix, queries: Floats, k: int = 100) -> float:
    """Return recall@k of approximate search: the mean share of the k nearest rows that it finds."""
    k = min(k, len(matrix))
    shares = [
        np.isin(exact_search(matrix, query, k).rows, ivf_search(index, matrix, query, k).rows).mean()
        for query in queries
    ]
    return float(np.mean(shares)) if shares else 1.0


def noisy_rows(matrix: Matrix, count: int, random: np.random.Generator) -> Floats:
    """Return rows with noise: queries about as far from the rows as texts are from code."""
    chosen = random.choice(len(matrix), min(count, len(matrix)), replace=False)
    rows = matrix.rows(np.sort(chosen))
    noise = random.standard_normal(rows.shape, np.float32)
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    return _NOISY_COSINE * rows + np.float32(np.sqrt(1 - _NOISY_COSINE**2)) * noise


def random_rotation(dimension: int, random: np.random.Generator) -> Floats:
    """Return a uniformly random rotation (QR decomposition of a Gaussian matrix)."""
    turned, upper = np.linalg.qr(random.standard_normal((dimension, dimension)))
    rotation: Floats = (turned * np.sign(np.diag(upper))).astype(np.float32)
    return rotation


def _measure_probes(index: IvfIndex, matrix: Matrix, queries: Floats, labels: Rows) -> tuple[Rows, Rows]:
    """Return depths, and how many lists hold nearly all of so many nearest rows."""
    depths = np.unique(np.minimum(_DEPTHS, len(matrix)))
    ranks = np.empty((len(queries), depths[-1]), np.int64)
    for number, query in enumerate(queries):
        by_nearness = np.argsort(-(index.centroids @ query), kind="stable")
        rank_of_list = np.empty(len(by_nearness), np.int64)
        rank_of_list[by_nearness] = np.arange(len(by_nearness))
        ranks[number] = rank_of_list[labels[exact_search(matrix, query, int(depths[-1])).rows]]
    probes = [1 + int(np.quantile(ranks[:, :depth], _LIST_RECALL, method="higher")) for depth in depths]
    return depths, np.maximum.accumulate(probes)


def _sort_by_proximity(centroids: Floats) -> Floats:
    """Order centroids so that near ones are often adjacent: their lists are then read in one piece."""
    groups = kmeans(centroids, int(np.sqrt(len(centroids))))
    return centroids[np.argsort(nearest_centroids(centroids, groups)[0], kind="stable")]


def _starts(sizes: Rows) -> Rows:
    """Return where each list begins, and the end."""
    return np.concatenate([[0], np.cumsum(sizes)])


def _row_bits(index: IvfIndex, matrix: Matrix, labels: Rows) -> Bits:
    """Return the 1-bit codes of the last rows, given the list of each."""
    first = len(matrix) - len(labels)
    bits = np.empty((len(labels), -(-matrix.dimension // 8)), np.uint8)
    for part in blocks(len(bits), _BIT_ROWS):
        rows = matrix.rows(np.arange(first + part.start, first + part.stop))
        bits[part] = index.encode(rows, labels[part])
    return bits
