"""Clusters of the first candidates: k-means in Euclidean and hyperbolic space, and spectral clustering.

For some hundred points: all three compute the squared distances between all pairs. k-means needs no more,
since the squared distance of x from the mean of a cluster C is

    Σ d²(x, c) / |C|  −  Σ d²(c, c') / 2|C|²

The initial centres are chosen greedily to minimise the sum of squares (as in k-medoids; deterministic).
Lloyd's iterations follow, then Hartigan's: single points change their cluster while that lowers the sum,
which leaves many local minima of Lloyd's.

Labels are numbered by first appearance, no cluster is empty, and equal points share a cluster. The same
points have the same clusters every time.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dowse.research.hyperbolic.means import frechet_means
from dowse.research.hyperbolic.poincare import clip_to_ball
from dowse.research.hyperbolic.poincare import distances as hyperbolic_distances

Floats: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.int64]

# Lloyd iterations; most runs converge after five.
_LLOYD_ITERATIONS = 25
# Hartigan moves, at most: each is worth little, and hundreds take longer than the search.
_HARTIGAN_MOVES = 30
# Iterations with hyperbolic means: they start near convergence, and each costs more.
_HYPERBOLIC_ITERATIONS = 4
# Newton steps toward the means in the first of them; the others start from the last means.
_FIRST_STEPS = 2
# Neighbours that the local density is estimated from (Zelnik-Manor and Perona, 2004).
_NEIGHBOURS = 7
# Extra vectors of the block, filter cycles, and the degree of the Chebyshev polynomial.
_EXTRA_VECTORS, _CYCLES, _DEGREE = 4, 3, 10
# BLAS gives larger products to several threads, which on busy processors wait for each other a hundred times
# longer than the product takes.
_MAX_PRODUCT = 250_000
# Differences below this share of the largest squared distance are rounding errors.
_TOLERANCE = 1e-12


def euclidean(points: NDArray[Any], k: int) -> Labels:
    """Return the cluster of each point: k-means with Euclidean distance."""
    first_equal = _first_equals(points)
    if _has_few_points(first_equal, k):
        return _renumber(first_equal)
    return _renumber(_kmeans(_squared_distances(points), k)[first_equal])


def hyperbolic(points: Floats, k: int) -> Labels:
    """Return the cluster of each point of the Poincaré ball: k-means with its distance and Fréchet means.

    Starts from k-means on the distances, as if the space were flat.
    """
    first_equal = _first_equals(points)
    if _has_few_points(first_equal, k):
        return _renumber(first_equal)
    points = clip_to_ball(points)
    labels = _kmeans(hyperbolic_distances(points, points) ** 2, k)
    centres, steps = None, _FIRST_STEPS
    for _ in range(_HYPERBOLIC_ITERATIONS):
        centres, steps = frechet_means(points, labels, k, centres, steps), 1
        nearest = hyperbolic_distances(points, centres).argmin(axis=1)
        if (nearest == labels).all():
            break
        labels = nearest
    return _renumber(labels[first_equal])


def spectral(distances: NDArray[Any], k: int) -> Labels:
    """Return the cluster of each item from pairwise distances alone (Ng, Jordan and Weiss, 2001).

    The affinity is a Gaussian of the distance. Its width is the mean distance to the neighbour at half the
    mean cluster size, at most the seventh, so it fits any unit. The first k eigenvectors of the normalised
    Laplacian, rows normalised to length 1, are then clustered by k-means.
    """
    first_equal = (distances == 0).argmax(axis=1) if len(distances) else np.zeros(0, np.int64)
    if _has_few_points(first_equal, k):
        return _renumber(first_equal)
    affinity = np.exp(-0.5 * (distances / _width(distances, k)) ** 2)
    embedding = _spectral_embedding(affinity, k)
    return _renumber(_kmeans(_squared_distances(embedding), k)[first_equal])


def _has_few_points(first_equal: Labels, k: int) -> bool:
    """Whether each distinct point can have a cluster of its own."""
    if k < 1:
        raise ValueError(f"there can't be {k} clusters; ask for 1 or more")
    return len(set(first_equal.tolist())) <= k


def _first_equals(points: NDArray[Any]) -> Labels:
    """Return for each point the index of the first that is equal to it."""
    first: dict[bytes, int] = {}
    rows = np.ascontiguousarray(points) + 0.0  # −0 is 0
    return np.array([first.setdefault(row.tobytes(), n) for n, row in enumerate(rows)], np.int64)


def _renumber(labels: Labels) -> Labels:
    """Renumber labels by first appearance."""
    numbers: dict[int, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels.tolist()], np.int64)


def _squared_distances(points: NDArray[Any]) -> Floats:
    """Return the squared Euclidean distances between all points."""
    # Centred numbers are small, so their differences lose less precision.
    centred = points - points.mean(axis=0)
    strip = max(1, _MAX_PRODUCT // centred.size)
    parts = [centred[start : start + strip] @ centred.T for start in range(0, len(centred), strip)]
    products = np.concatenate(parts).astype(np.float64)
    lengths = products.diagonal()
    squared: Floats = np.maximum(lengths[:, None] + lengths - 2 * products, 0)
    np.fill_diagonal(squared, 0)
    return squared


def _kmeans(squared: Floats, k: int) -> Labels:
    """Return labels below k from the squared distances between more than k distinct points."""
    labels: Labels = squared[_seeds(squared, k)].argmin(axis=0)
    partition = _Partition(squared, labels, k)
    for _ in range(_LLOYD_ITERATIONS):
        nearest = partition.nearest()
        if (nearest == partition.labels).all():
            break
        partition = _Partition(squared, nearest, k)
    for _ in range(_HARTIGAN_MOVES):
        if not partition.move_one():
            break
    return partition.labels


def _seeds(squared: Floats, k: int) -> list[int]:
    """Choose the initial centres one by one, each such that the sum of squared distances is least."""
    chosen = [int(squared.sum(axis=1).argmin())]
    nearest = squared[chosen[0]]
    for _ in range(k - 1):
        chosen.append(int(np.minimum(squared, nearest).sum(axis=1).argmin()))
        nearest = np.minimum(nearest, squared[chosen[-1]])
    return chosen


class _Partition:
    """A partition into clusters, with the sums that give the distance of each point from each mean."""

    def __init__(self, squared: Floats, labels: Labels, count: int) -> None:
        own = (labels[:, None] == np.arange(count)).astype(np.float64)
        self.labels = labels
        self._squared, self._indexes = squared, np.arange(len(labels))
        self._rounding = _TOLERANCE * float(squared.max())
        self._sizes = own.sum(axis=0)
        self._sums = squared @ own  # from each point to all of each cluster
        self._within = np.einsum("ij,ij->j", self._sums, own)  # over all pairs of a cluster, each twice

    def nearest(self) -> Labels:
        """Return the cluster with the nearest mean for each point."""
        labels: Labels = np.where(self._sizes > 0, self._mean_distances(), np.inf).argmin(axis=1)
        return labels

    def move_one(self) -> bool:
        """Move the point whose change of cluster gains most; return whether one gains.

        Means move too: leaving a cluster of n at the squared distance d saves n/(n−1)·d, joining one costs
        n/(n+1)·d. Moving to an empty cluster costs nothing, so none stays empty.
        """
        sizes, squared, own = self._sizes, self._mean_distances(), (self._indexes, self.labels)
        leaving = (sizes / np.maximum(sizes - 1, 1))[self.labels] * squared[own]
        leaving[sizes[self.labels] == 1] = 0
        joining = squared * (sizes / (sizes + 1))
        joining[own] = np.inf
        targets = joining.argmin(axis=1)
        gains = leaving - joining[self._indexes, targets]
        best = int(gains.argmax())
        if gains[best] <= self._rounding:
            return False
        self._move(best, int(targets[best]))
        return True

    def _mean_distances(self) -> Floats:
        """Return the squared distance of each point from the mean of each cluster."""
        sizes = np.maximum(self._sizes, 1)
        squared: Floats = self._sums / sizes - self._within / (2 * sizes * sizes)
        return squared

    def _move(self, point: int, target: int) -> None:
        for cluster, sign in ((int(self.labels[point]), -1), (target, 1)):
            self._within[cluster] += 2 * sign * self._sums[point, cluster]
            self._sums[:, cluster] += sign * self._squared[point]
            self._sizes[cluster] += sign
        self.labels[point] = target


def _width(distances: NDArray[Any], k: int) -> float:
    """Return the mean distance from a point to its last neighbour that counts."""
    last = max(1, min(_NEIGHBOURS, len(distances) // (2 * k)))
    reach = float(np.partition(distances, last, axis=1)[:, last].mean())
    # Where all have that many equals, the smallest distance that is not 0 counts.
    return reach or float(distances[distances > 0].min())


def _spectral_embedding(affinity: Floats, k: int) -> Floats:
    """Return a row of length 1 for each item: its values in the first k eigenvectors."""
    np.fill_diagonal(affinity, 0)
    isolated = affinity.sum(axis=1) < _TOLERANCE
    affinity[isolated, isolated] = 1  # an item without neighbours is a cluster by itself
    scale = 1 / np.sqrt(affinity.sum(axis=1))
    vectors = largest_eigenvectors(affinity * scale * scale[:, None], k)
    rows: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _TOLERANCE)
    return rows


def largest_eigenvectors(matrix: Floats, k: int) -> Floats:
    """Return the eigenvectors of the k largest eigenvalues of a symmetric matrix; all lie between −1 and 1.

    Chebyshev-filtered subspace iteration (Zhou and Saad, 2006): a polynomial of the matrix that is small on
    all unwanted eigenvalues removes their components from a block of vectors. `numpy.linalg.eigh` is as fast
    on an idle machine; on busy processors its threads wait for each other, for a tenth of a second.
    """
    size = min(len(matrix), k + _EXTRA_VECTORS)
    block: Floats = np.random.default_rng(0).standard_normal((len(matrix), size))
    values, block = _rayleigh_ritz(matrix, block)
    for _ in range(_CYCLES if size < len(matrix) else 0):
        values, block = _rayleigh_ritz(matrix, _chebyshev_filter(matrix, block, float(values[0])))
    return block[:, -k:]


def _rayleigh_ritz(matrix: Floats, block: Floats) -> tuple[Floats, Floats]:
    """Return Ritz values, ascending, and Ritz vectors of a matrix in the span of some vectors."""
    basis = np.linalg.qr(block)[0]
    values, turn = np.linalg.eigh(basis.T @ (matrix @ basis))
    return values, basis @ turn


def _chebyshev_filter(matrix: Floats, block: Floats, unwanted: float) -> Floats:
    """Amplify the components of eigenvalues above the unwanted ones, which start at −1."""
    middle, radius = (unwanted - 1) / 2, max((unwanted + 1) / 2, 1e-3)
    scaled = (matrix - middle * np.eye(len(matrix))) / radius
    before, now = block, scaled @ block
    for _ in range(_DEGREE - 1):
        before, now = now, 2 * (scaled @ now) - before
    return now
