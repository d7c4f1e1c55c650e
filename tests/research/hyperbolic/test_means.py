"""Fréchet means against plain minimisation, symmetry and what defines them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.research.hyperbolic.means import frechet_means
from dowse.research.hyperbolic.poincare import distance, distances, log_map, mobius_add

seeds = st.integers(0, 10_000)


def somewhere(count: int, dimension: int, seed: int, reach: float = 6.0) -> np.ndarray:
    """Return points in all directions, up to so far from the origin."""
    random = np.random.default_rng(seed)
    towards = random.standard_normal((count, dimension))
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    return np.tanh(random.uniform(0, reach, (count, 1)) / 2) * towards


def squares(points: np.ndarray, centre: np.ndarray) -> float:
    return float((distance(points, centre) ** 2).sum())


def mean(points: np.ndarray, **more: object) -> np.ndarray:
    return frechet_means(points, np.zeros(len(points), np.int64), 1, **more)[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("dimension", [2, 3, 8])
@pytest.mark.parametrize("reach", [1.0, 5.0, 12.0])
def test_no_minimiser_finds_a_better_place(dimension: int, reach: float):
    optimize = pytest.importorskip("scipy.optimize")
    for seed in range(3):
        points = somewhere(9, dimension, seed, reach)
        found = mean(points)

        def value(tangent: np.ndarray, points: np.ndarray = points) -> float:
            length = np.linalg.norm(tangent) or 1.0
            return squares(points, np.tanh(length / 2) * tangent / length)

        start = 2 * np.arctanh(np.linalg.norm(found)) * found / np.linalg.norm(found)
        for begin in (np.zeros(dimension) + 0.01, start):
            other = optimize.minimize(value, begin, method="Nelder-Mead", options={"maxiter": 4000})
            assert squares(points, found) <= other.fun * (1 + 1e-9)
        assert value(start) == pytest.approx(other.fun, rel=1e-6)


@given(seeds, st.integers(2, 8), st.integers(1, 20), st.floats(0.01, 12))
def test_at_the_mean_nothing_pulls(seed: int, dimension: int, count: int, reach: float):
    points = somewhere(count, dimension, seed, reach)
    found = mean(points)
    pull = 2 * log_map(found[None], points) / (1 - found @ found)
    assert np.linalg.norm(pull.mean(axis=0)) < 1e-5 * max(1.0, np.linalg.norm(pull, axis=1).max())


@given(seeds, st.integers(2, 6), st.floats(0, 5))
def test_the_mean_of_what_is_symmetric_is_its_centre(seed: int, dimension: int, reach: float):
    random = np.random.default_rng(seed)
    around = somewhere(4, dimension, seed, 4.0)
    centre = somewhere(1, dimension, seed + 1, reach)
    points = random.permutation(mobius_add(centre, np.concatenate([around, -around])))
    assert distance(mean(points), centre[0]) < 1e-5


def test_all_groups_at_once_are_as_each_alone():
    points, labels = somewhere(60, 5, 3, 8.0), np.random.default_rng(0).integers(0, 7, 60)
    found = frechet_means(points, labels, 7)
    for label in range(7):
        assert distance(found[label], mean(points[labels == label])) < 1e-5


@pytest.mark.parametrize("left", [1e-9, 1e-12, 1e-15, 0.0])
def test_near_the_boundary_means_stay_inside_and_are_no_worse_than_any_point(left: float):
    random = np.random.default_rng(9)
    towards = random.standard_normal((24, 6))
    towards[12:] = towards[0] + 1e-7 * towards[12:]  # twelve that are far out, and near each other
    points = (1 - left) * towards / np.linalg.norm(towards, axis=1, keepdims=True)
    labels = np.repeat([0, 1], 12)
    found = frechet_means(points, labels, 2)
    assert np.isfinite(found).all()
    assert (np.linalg.norm(found, axis=1) < 1).all()
    for label, centre in enumerate(found):
        own = points[labels == label]
        assert squares(own, centre) <= (distances(own, own) ** 2).sum(axis=0).min()
