"""k-means: deterministic, never worse after a step, near the best grouping where that can be known."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.vectors.kmeans import kmeans, matrix_centroids, matrix_labels, nearest_centroids
from vectors.builders import build, grouped


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def total(vectors: np.ndarray, centroids: np.ndarray) -> float:
    return float(nearest_centroids(vectors, centroids)[1].sum())


def best_total(vectors: np.ndarray, k: int) -> float:
    """Return the largest sum of cosines that any grouping reaches, by trying all of them."""
    return max(
        sum(
            float(np.linalg.norm(vectors[np.array(labels) == group].sum(axis=0)))
            for group in range(k)
            if group in labels
        )
        for labels in itertools.product(range(k), repeat=len(vectors))
    )


@given(st.integers(1, 7), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_no_grouping_is_better_and_another_step_changes_nothing(count: int, k: int, seed: int) -> None:
    vectors = unit(np.random.default_rng(seed).standard_normal((count, 4)))
    centroids = kmeans(vectors, k, iterations=100)
    reached = total(vectors, centroids)
    assert reached <= best_total(vectors, k) + 1e-4
    labels, _ = nearest_centroids(vectors, centroids)
    middles = unit(np.stack([vectors[labels == group].sum(axis=0) for group in range(len(centroids))]))
    assert total(vectors, middles) <= reached + 2e-4 * count


@given(st.integers(0, 60), st.integers(0, 70), st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_centres_are_unit_used_and_no_more_than_there_can_be(
    count: int, k: int, distinct: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    vectors = unit(random.standard_normal((distinct, 5)))[random.integers(0, distinct, count)]
    centroids = kmeans(vectors, k)
    assert len(centroids) <= min(k, len(np.unique(vectors, axis=0)))
    assert (len(centroids) > 0) == (count > 0 and k > 0)
    if len(centroids):
        assert np.allclose(np.linalg.norm(centroids, axis=1), 1, atol=1e-5)
        assert set(nearest_centroids(vectors, centroids)[0].tolist()) == set(range(len(centroids)))


def test_inertia_is_that_of_scikit_learn() -> None:
    cluster = pytest.importorskip("sklearn.cluster")
    vectors = unit(grouped(3000, 32, 60))
    labels, _ = nearest_centroids(vectors, kmeans(vectors, 50))
    means = np.stack([vectors[labels == label].mean(axis=0) for label in range(50)])
    ours = ((vectors - means[labels]) ** 2).sum()
    assert ours <= 1.03 * cluster.KMeans(50, n_init=1, random_state=0).fit(vectors).inertia_


def test_rows_of_a_matrix_are_grouped_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = build(tmp_path, grouped(500, 12, 9))
    everything = matrix.rows(np.arange(500))
    centroids = matrix_centroids(matrix, 9)
    assert np.array_equal(centroids, kmeans(everything, 9))
    monkeypatch.setattr("dowse.vectors.kmeans.BLOCK", 100)
    labels, cosines = matrix_labels(matrix, centroids, 100)
    expected = nearest_centroids(everything, centroids)
    assert np.array_equal(labels, expected[0][100:])
    assert np.allclose(cosines, expected[1][100:], atol=1e-6)
    monkeypatch.setattr("dowse.vectors.kmeans.MIN_SAMPLE", 50)
    monkeypatch.setattr("dowse.vectors.kmeans.SAMPLE_PER_CENTROID", 1)
    assert matrix_centroids(matrix, 9, allowed=np.arange(200)).shape == (9, 12)
