"""Clusters among the first candidates: k-means in flat and in hyperbolic space, and spectral clustering.

For some hundred points: all three begin with the squared distances between all of them. From these alone
k-means can be computed, since the squared distance of x from the mean of a group C is

    Σ d²(x, c) / |C|  −  Σ d²(c, c') / 2|C|²

It begins with points that are greedily chosen to leave the least sum of squares (as k-medoids do; nothing is
left to chance), goes on with Lloyd's rounds, and ends with Hartigan's: single points change their group
while that makes the sum less, which gets out of many places where Lloyd's rounds end.

Labels are numbered by first appearance, no cluster is empty, and equal points are never apart. The same
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

# Most stop after five.
_ROUNDS = 25
# Single moves after them, at most: each is worth little, and hundreds take longer than the search.
_MOVES = 30
# Rounds with hyperbolic means; they begin near the end, and each costs more.
_HYPERBOLIC_ROUNDS = 4
# Steps toward the means in the first of them, from anywhere; the others follow on from the last means.
_FIRST_STEPS = 2
# How many neighbours tell how dense things lie (Zelnik-Manor and Perona, 2004).
_NEIGHBOURS = 7
# Vectors that are looked for beside the wanted ones, how often all are filtered, and by which degree.
_SPARE, _CYCLES, _DEGREE = 4, 3, 10
# Products of more numbers than this are given to several threads, which on busy processors wait for each
# other a hundred times longer than the product takes.
_ONE_THREAD = 250_000
# Less than this share of the largest squared distance is rounding.
_ENOUGH = 1e-12


def euclidean(points: NDArray[Any], k: int) -> Labels:
    """Return the cluster of each point: k-means with Euclidean distance."""
    alike = _first_equals(points)
    if _are_few(alike, k):
        return _numbered(alike)
    return _numbered(_kmeans(_squared_distances(points), k)[alike])


def hyperbolic(points: Floats, k: int) -> Labels:
    """Return the cluster of each point of the Poincaré ball: k-means with its distance and Fréchet means.

    Begins with the clusters that distances alone give: those of k-means, if the space were flat.
    """
    alike = _first_equals(points)
    if _are_few(alike, k):
        return _numbered(alike)
    points = clip_to_ball(points)
    labels = _kmeans(hyperbolic_distances(points, points) ** 2, k)
    centres, steps = None, _FIRST_STEPS
    for _ in range(_HYPERBOLIC_ROUNDS):
        centres, steps = frechet_means(points, labels, k, centres, steps), 1
        nearest = hyperbolic_distances(points, centres).argmin(axis=1)
        if (nearest == labels).all():
            break
        labels = nearest
    return _numbered(labels[alike])


def spectral(distances: NDArray[Any], k: int) -> Labels:
    """Return the cluster of each thing of which only distances are known (Ng, Jordan and Weiss, 2001).

    How near things are is a Gaussian of their distance; its width is how far one has to go on average to meet
    half of a cluster of the mean size, at most seven: so it fits any unit of distance. The first k
    eigenvectors of the normalised Laplacian, rows brought to length 1, are then clustered by k-means.
    """
    alike = (distances == 0).argmax(axis=1) if len(distances) else np.zeros(0, np.int64)
    if _are_few(alike, k):
        return _numbered(alike)
    near = np.exp(-0.5 * (distances / _width(distances, k)) ** 2)
    rows = _laplacian_rows(near, k)
    return _numbered(_kmeans(_squared_distances(rows), k)[alike])


def _are_few(alike: Labels, k: int) -> bool:
    """Whether each different point can have a cluster of its own."""
    if k < 1:
        raise ValueError(f"there can't be {k} clusters; ask for 1 or more")
    return len(set(alike.tolist())) <= k


def _first_equals(points: NDArray[Any]) -> Labels:
    """Return for each point the number of the first that is equal to it."""
    first: dict[bytes, int] = {}
    rows = np.ascontiguousarray(points) + 0.0  # −0 is 0
    return np.array([first.setdefault(row.tobytes(), n) for n, row in enumerate(rows)], np.int64)


def _numbered(labels: Labels) -> Labels:
    """Number labels anew, by first appearance."""
    numbers: dict[int, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels.tolist()], np.int64)


def _squared_distances(points: NDArray[Any]) -> Floats:
    """Return the squared Euclidean distances between all points."""
    # Around their middle numbers are small, so their differences are true.
    centred = points - points.mean(axis=0)
    strip = max(1, _ONE_THREAD // centred.size)
    parts = [centred[start : start + strip] @ centred.T for start in range(0, len(centred), strip)]
    products = np.concatenate(parts).astype(np.float64)
    lengths = products.diagonal()
    found: Floats = np.maximum(lengths[:, None] + lengths - 2 * products, 0)
    np.fill_diagonal(found, 0)
    return found


def _kmeans(squared: Floats, k: int) -> Labels:
    """Return labels below k, from the squared distances between more than k different points."""
    labels: Labels = squared[_seeds(squared, k)].argmin(axis=0)
    groups = _Groups(squared, labels, k)
    for _ in range(_ROUNDS):
        nearest = groups.nearest()
        if (nearest == groups.labels).all():
            break
        groups = _Groups(squared, nearest, k)
    for _ in range(_MOVES):
        if not groups.move_one():
            break
    return groups.labels


def _seeds(squared: Floats, k: int) -> list[int]:
    """Choose points one by one, each such that all are nearest to those chosen."""
    chosen = [int(squared.sum(axis=1).argmin())]
    nearest = squared[chosen[0]]
    for _ in range(k - 1):
        chosen.append(int(np.minimum(squared, nearest).sum(axis=1).argmin()))
        nearest = np.minimum(nearest, squared[chosen[-1]])
    return chosen


class _Groups:
    """Groups of points, with the sums that tell how far each point is from each group's mean."""

    def __init__(self, squared: Floats, labels: Labels, count: int) -> None:
        own = (labels[:, None] == np.arange(count)).astype(np.float64)
        self.labels = labels
        self._squared, self._everyone = squared, np.arange(len(labels))
        self._rounding = _ENOUGH * float(squared.max())
        self._sizes = own.sum(axis=0)
        self._sums = squared @ own  # of each point to all of each group
        self._within = np.einsum("ij,ij->j", self._sums, own)  # of all pairs of a group, each twice

    def nearest(self) -> Labels:
        """Return the group whose mean is nearest to each point."""
        found: Labels = np.where(self._sizes > 0, self._from_means(), np.inf).argmin(axis=1)
        return found

    def move_one(self) -> bool:
        """Let the point that gains most by it change its group; say whether there was one.

        A mean follows: to leave a group of n at the distance² d saves n/(n−1)·d, to join one costs n/(n+1)·d.
        To leave a group for an empty one costs nothing, so none stays empty.
        """
        sizes, far, own = self._sizes, self._from_means(), (self._everyone, self.labels)
        leaving = (sizes / np.maximum(sizes - 1, 1))[self.labels] * far[own]
        leaving[sizes[self.labels] == 1] = 0
        joining = far * (sizes / (sizes + 1))
        joining[own] = np.inf
        goals = joining.argmin(axis=1)
        gains = leaving - joining[self._everyone, goals]
        best = int(gains.argmax())
        if gains[best] <= self._rounding:
            return False
        self._move(best, int(goals[best]))
        return True

    def _from_means(self) -> Floats:
        sizes = np.maximum(self._sizes, 1)
        found: Floats = self._sums / sizes - self._within / (2 * sizes * sizes)
        return found

    def _move(self, point: int, goal: int) -> None:
        for group, sign in ((int(self.labels[point]), -1), (goal, 1)):
            self._within[group] += 2 * sign * self._sums[point, group]
            self._sums[:, group] += sign * self._squared[point]
            self._sizes[group] += sign
        self.labels[point] = goal


def _width(distances: NDArray[Any], k: int) -> float:
    """Return the mean distance from a point to the last of those nearest to it that count."""
    last = max(1, min(_NEIGHBOURS, len(distances) // (2 * k)))
    reach = float(np.partition(distances, last, axis=1)[:, last].mean())
    # Where all have that many equals, the nearest that is not equal tells.
    return reach or float(distances[distances > 0].min())


def _laplacian_rows(near: Floats, k: int) -> Floats:
    """Return a row of length 1 for each thing: its values in the first k eigenvectors."""
    np.fill_diagonal(near, 0)
    alone = near.sum(axis=1) < _ENOUGH
    near[alone, alone] = 1  # what has no neighbours is a cluster by itself
    scale = 1 / np.sqrt(near.sum(axis=1))
    vectors = _largest_eigenvectors(near * scale * scale[:, None], k)
    found: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), _ENOUGH)
    return found


def _largest_eigenvectors(matrix: Floats, k: int) -> Floats:
    """Return the eigenvectors of the k largest eigenvalues of a symmetric matrix; all lie between −1 and 1.

    Repeated products with a block of vectors (Zhou and Saad, 2006): a Chebyshev polynomial of the matrix that
    is small on all unwanted eigenvalues takes what belongs to them out of the block. `numpy.linalg.eigh` is
    as fast where it is alone; on busy processors its threads wait for each other, for a tenth of a second.
    """
    size = min(len(matrix), k + _SPARE)
    block: Floats = np.random.default_rng(0).standard_normal((len(matrix), size))
    values, block = _rotated(matrix, block)
    for _ in range(_CYCLES if size < len(matrix) else 0):
        values, block = _rotated(matrix, _filtered(matrix, block, float(values[0])))
    return block[:, -k:]


def _rotated(matrix: Floats, block: Floats) -> tuple[Floats, Floats]:
    """Return the best guesses at eigenvalues, ascending, and eigenvectors in the space of some vectors."""
    basis = np.linalg.qr(block)[0]
    values, turn = np.linalg.eigh(basis.T @ (matrix @ basis))
    return values, basis @ turn


def _filtered(matrix: Floats, block: Floats, unwanted: float) -> Floats:
    """Make the parts of vectors large whose eigenvalues are above the unwanted ones, which begin at −1."""
    middle, radius = (unwanted - 1) / 2, max((unwanted + 1) / 2, 1e-3)
    scaled = (matrix - middle * np.eye(len(matrix))) / radius
    before, now = block, scaled @ block
    for _ in range(_DEGREE - 1):
        before, now = now, 2 * (scaled @ now) - before
    return now
