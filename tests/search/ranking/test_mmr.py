"""Maximal marginal relevance against its definition, written out."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dowse.search.ranking.diversify import mmr

scores = st.lists(st.floats(-5, 5), min_size=1, max_size=12)


def unit_vectors(count: int, seed: int) -> np.ndarray:
    found = np.random.default_rng(seed).normal(size=(count, 4)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@given(scores, st.integers(0, 99), st.floats(0, 1))
def test_each_choice_is_the_best_left(values: list[float], seed: int, weight: float):
    vectors = unit_vectors(len(values), seed)
    order, likeness = mmr(values, vectors, weight)
    assert sorted(order) == list(range(len(values)))
    spread = max(values) - min(values) or 1.0
    relevance = [(value - min(values)) / spread for value in values]
    for at, chosen in enumerate(order):

        def worth(n: int, before: list[int] = order[:at]) -> float:
            nearest = max([0.0, *(float(vectors[n] @ vectors[m]) for m in before)])
            return weight * relevance[n] - (1 - weight) * nearest

        assert worth(chosen) >= max(worth(n) for n in order[at:]) - 1e-5
        nearest = max([0.0, *(float(vectors[chosen] @ vectors[m]) for m in order[:at])])
        assert abs(likeness[chosen] - nearest) < 1e-5


def test_a_copy_comes_after_what_is_new():
    vectors = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
    assert mmr([1.0, 0.99, 0.8, 0.0], vectors, 0.7)[0] == [0, 2, 1, 3]
