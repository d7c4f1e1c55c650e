"""Groups of vectors by direction: spherical k-means, the same for the same vectors and seed.

Each vector belongs to the centre with the largest dot product; a centre is the unit vector in the middle of
its group. For unit vectors that is nearly Euclidean k-means (the inertia differs by a few percent
either way), and it needs one matrix product a step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dowse.vectors.matrix import Matrix, blocks
from dowse.vectors.quantize import Floats, Rows

# Steps after which groups hardly change any more; most runs stop before.
ITERATIONS = 25
# Stop when a step improves the mean cosine by less than this.
_ENOUGH = 1e-4
# Products are made in pieces of this many numbers: 16 MB.
_PIECE = 1 << 22
# Careful seeding passes over the vectors once a centre: too slow for many, where it also matters less.
_CAREFUL_CENTRES = 256
# Vectors that centres are fitted to, at most: for each centre, and altogether at least.
_SAMPLE_PER_CENTRE = 40
_SAMPLE_LEAST = 20_000


def kmeans(vectors: Floats, k: int, seed: int = 0, iterations: int = ITERATIONS) -> Floats:
    """Return at most k centres of unit vectors; fewer only if there are fewer different vectors."""
    if not len(vectors) or k <= 0:
        return np.empty((0, vectors.shape[1]), np.float32)
    random = np.random.default_rng(seed)
    centres = _first_centres(vectors, k, random)
    reached = -np.inf
    for _ in range(iterations):
        labels, cosines = nearest_centres(vectors, centres)
        centres = _refilled(vectors, _middles(vectors, labels, centres), labels, cosines)
        improved, reached = float(cosines.mean()) - reached, float(cosines.mean())
        if improved < _ENOUGH:
            break
    used = np.bincount(nearest_centres(vectors, centres)[0], minlength=len(centres)) > 0
    return centres[used]


def matrix_centres(
    matrix: Matrix, k: int, seed: int = 0, allowed: Rows | None = None, iterations: int = ITERATIONS
) -> Floats:
    """Return at most k centres for rows of a matrix; a sample of them decides if there are many."""
    rows = np.arange(len(matrix)) if allowed is None else np.asarray(allowed, np.int64)
    most = max(_SAMPLE_LEAST, k * _SAMPLE_PER_CENTRE)
    if len(rows) > most:
        rows = np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
    return kmeans(matrix.rows(rows), k, seed, iterations)


def nearest_centres(vectors: Floats, centres: Floats) -> tuple[Rows, Floats]:
    """Return for each vector the number of its centre, the first of equal ones, and their dot product."""
    labels = np.zeros(len(vectors), np.int64)
    cosines = np.zeros(len(vectors), np.float32)
    for part in blocks(len(vectors), max(1, _PIECE // max(1, len(centres)))):
        products = vectors[part] @ centres.T
        labels[part] = products.argmax(axis=1)
        cosines[part] = np.take_along_axis(products, labels[part, None], axis=1)[:, 0]
    return labels, cosines


def matrix_labels(matrix: Matrix, centres: Floats, first: int = 0) -> tuple[Rows, Floats]:
    """Return the same for the rows of a matrix, from row `first` on."""
    labels = np.zeros(len(matrix) - first, np.int64)
    cosines = np.zeros(len(matrix) - first, np.float32)
    for part in blocks(len(labels), max(1, _PIECE // matrix.dimension)):
        rows = matrix.rows(np.arange(first + part.start, first + part.stop))
        labels[part], cosines[part] = nearest_centres(rows, centres)
    return labels, cosines


def _first_centres(vectors: Floats, k: int, random: np.random.Generator) -> Floats:
    """Choose different vectors to begin with."""
    if k > _CAREFUL_CENTRES or k >= len(vectors):
        chosen = random.permutation(len(vectors))[:k]
        return np.unique(vectors[chosen], axis=0)
    return vectors[_far_apart(vectors, k, random)]


def _far_apart(vectors: Floats, k: int, random: np.random.Generator) -> list[int]:
    """Choose vectors with a chance that grows with the distance from those already chosen (k-means++).

    Of a few candidates each time, the one that brings all vectors nearest is taken.
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


def _distances(vectors: Floats, centres: Floats) -> Floats:
    """Return squared distances between unit vectors, those of rounding alone taken for none."""
    distances = 1 - vectors @ centres.T
    distances[distances < 1e-6] = 0
    return distances


def _middles(vectors: Floats, labels: Rows, centres: Floats) -> Floats:
    """Return the unit vector in the middle of each group, zeros for an empty one."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(len(centres) + 1))
    sums = np.zeros_like(centres)
    for number in np.flatnonzero(np.diff(starts)).tolist():
        sums[number] = vectors[order[starts[number] : starts[number + 1]]].sum(axis=0)
    return _unit(sums)


def _refilled(vectors: Floats, centres: Floats, labels: Rows, cosines: Floats) -> Floats:
    """Give empty groups the vectors that fit worst where they are, different ones."""
    empty = np.flatnonzero(np.bincount(labels, minlength=len(centres)) == 0)
    if len(empty):
        worst = np.argsort(cosines, kind="stable")[: 4 * len(empty)]
        _, firsts = np.unique(vectors[worst], axis=0, return_index=True)
        strangers = worst[np.sort(firsts)][: len(empty)]
        centres[empty[: len(strangers)]] = vectors[strangers]
    return centres


def _unit(rows: NDArray[Any]) -> Floats:
    """Return rows of length 1; zeros stay zeros."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return unit
