"""Spherical k-means (Dhillon & Modha 2001), deterministic for the same vectors and seed.

Each vector belongs to the centroid with the largest dot product; a centroid is the normalised mean of its
cluster. For unit vectors that is nearly Euclidean k-means (the inertia differs by a few percent either way),
and it needs one matrix product an iteration.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dowse.vectors.matrix import Matrix, blocks
from dowse.vectors.quantize import Floats, Rows

# Iterations after which clusters hardly change any more; most runs stop before.
ITERATIONS = 25
# Stop when an iteration improves the mean cosine by less than this.
_TOLERANCE = 1e-4
# Products are computed in blocks of this many numbers: 16 MB.
BLOCK = 1 << 22
# k-means++ passes over the vectors once a centroid: too slow for many, where it also matters less.
_MAX_PLUS_PLUS = 256
# Size of the sample that centroids are fitted to: for each centroid, and at least.
SAMPLE_PER_CENTROID = 40
MIN_SAMPLE = 20_000


def kmeans(vectors: Floats, k: int, seed: int = 0, iterations: int = ITERATIONS) -> Floats:
    """Return at most k centroids of unit vectors; fewer only if there are fewer different vectors."""
    if not len(vectors) or k <= 0:
        return np.empty((0, vectors.shape[1]), np.float32)
    random = np.random.default_rng(seed)
    centroids = _initial_centroids(vectors, k, random)
    mean_cosine = -np.inf
    for _ in range(iterations):
        labels, cosines = nearest_centroids(vectors, centroids)
        centroids = _refill_empty(vectors, _means(vectors, labels, centroids), labels, cosines)
        improved, mean_cosine = float(cosines.mean()) - mean_cosine, float(cosines.mean())
        if improved < _TOLERANCE:
            break
    used = np.bincount(nearest_centroids(vectors, centroids)[0], minlength=len(centroids)) > 0
    return centroids[used]


def matrix_centroids(
    matrix: Matrix, k: int, seed: int = 0, allowed: Rows | None = None, iterations: int = ITERATIONS
) -> Floats:
    """Return at most k centroids for rows of a matrix, fitted to a sample if there are many."""
    rows = np.arange(len(matrix)) if allowed is None else np.asarray(allowed, np.int64)
    most = max(MIN_SAMPLE, k * SAMPLE_PER_CENTROID)
    if len(rows) > most:
        rows = np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
    return kmeans(matrix.rows(rows), k, seed, iterations)


def nearest_centroids(vectors: Floats, centroids: Floats) -> tuple[Rows, Floats]:
    """Return for each vector the number of its centroid, the first of ties, and their dot product."""
    labels = np.zeros(len(vectors), np.int64)
    cosines = np.zeros(len(vectors), np.float32)
    for part in blocks(len(vectors), max(1, BLOCK // max(1, len(centroids)))):
        products = vectors[part] @ centroids.T
        labels[part] = products.argmax(axis=1)
        cosines[part] = np.take_along_axis(products, labels[part, None], axis=1)[:, 0]
    return labels, cosines


def matrix_labels(matrix: Matrix, centroids: Floats, first: int = 0) -> tuple[Rows, Floats]:
    """Return the same for the rows of a matrix, from row `first` on."""
    labels = np.zeros(len(matrix) - first, np.int64)
    cosines = np.zeros(len(matrix) - first, np.float32)
    for part in blocks(len(labels), max(1, BLOCK // matrix.dimension)):
        rows = matrix.rows(np.arange(first + part.start, first + part.stop))
        labels[part], cosines[part] = nearest_centroids(rows, centroids)
    return labels, cosines


def _initial_centroids(vectors: Floats, k: int, random: np.random.Generator) -> Floats:
    """Choose different vectors as initial centroids."""
    if k > _MAX_PLUS_PLUS or k >= len(vectors):
        chosen = random.permutation(len(vectors))[:k]
        return np.unique(vectors[chosen], axis=0)
    return vectors[_plus_plus(vectors, k, random)]


def _plus_plus(vectors: Floats, k: int, random: np.random.Generator) -> list[int]:
    """Choose vectors by k-means++ (Arthur & Vassilvitskii 2007).

    The greedy variant: of a few candidates each time, the one that reduces the distances most is taken.
    """
    trials = 2 + int(np.log(k))
    chosen = [int(random.integers(len(vectors)))]
    distances = _distances(vectors, vectors[chosen])[:, 0]
    while len(chosen) < k and distances.sum() > 0:
        chances = np.cumsum(distances, dtype=np.float64)
        picks = np.searchsorted(chances, random.random(trials) * chances[-1], side="right")
        picks = np.minimum(picks, len(vectors) - 1)
        after = np.minimum(distances[:, None], _distances(vectors, vectors[picks]))
        best = int(after.sum(axis=0, dtype=np.float64).argmin())
        chosen.append(int(picks[best]))
        distances = after[:, best]
    return chosen


def _distances(vectors: Floats, centroids: Floats) -> Floats:
    """Return half the squared distances between unit vectors; rounding errors become 0."""
    distances = 1 - vectors @ centroids.T
    distances[distances < 1e-6] = 0
    return distances


def _means(vectors: Floats, labels: Rows, centroids: Floats) -> Floats:
    """Return the normalised mean of each cluster, zeros for an empty one."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(len(centroids) + 1))
    sums = np.zeros_like(centroids)
    for number in np.flatnonzero(np.diff(starts)).tolist():
        sums[number] = vectors[order[starts[number] : starts[number + 1]]].sum(axis=0)
    return _unit(sums)


def _refill_empty(vectors: Floats, centroids: Floats, labels: Rows, cosines: Floats) -> Floats:
    """Replace the centroids of empty clusters by the vectors that fit worst, different ones."""
    empty = np.flatnonzero(np.bincount(labels, minlength=len(centroids)) == 0)
    if len(empty):
        worst = np.argsort(cosines, kind="stable")[: 4 * len(empty)]
        _, firsts = np.unique(vectors[worst], axis=0, return_index=True)
        outliers = worst[np.sort(firsts)][: len(empty)]
        centroids[empty[: len(outliers)]] = vectors[outliers]
    return centroids


def _unit(rows: NDArray[Any]) -> Floats:
    """Return rows of length 1; zeros stay zeros."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return unit
