"""Distortion and mean average precision, against their definitions written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.research.hyperbolic.embed import embed
from dowse.research.hyperbolic.poincare import distances
from dowse.research.hyperbolic.scale import Scale
from dowse.research.hyperbolic.shape import Tree, tree_from_parents
from research.hyperbolic.embedding_quality import distortion, mean_average_precision
from research.hyperbolic.trees import climb, trees

lengths = st.sampled_from([0.1, 0.8, 2.0])


def map_by_definition(tree: Tree, points: np.ndarray) -> float:
    away, precisions = distances(points, points), []
    for a in range(len(tree)):
        neighbours = {b for b in range(len(tree)) if climb(tree, a, b) == 1}
        shares = []
        for b in neighbours:
            within = {c for c in range(len(tree)) if c != a and away[a, c] <= away[a, b]}
            shares.append(len(neighbours & within) / len(within))
        precisions.append(np.mean(shares))
    return float(np.mean(precisions))


@given(trees(14), lengths, st.sampled_from([2, 3, 5]))
def test_both_are_their_definitions(tree: Tree, length: float, dimension: int):
    scale = Scale(length, 53, dimension)
    points = embed(tree, scale)
    found = distortion(tree, points, scale)
    away = distances(points, points) / length
    ratios = [away[a, b] / climb(tree, a, b) for a in range(len(tree)) for b in range(a)]
    assert found.pairs == len(ratios)
    if ratios:
        assert found.mean == pytest.approx(np.mean(np.abs(np.array(ratios) - 1)))
        assert found.worst == pytest.approx(max(ratios) / min(ratios), rel=1e-6)
        assert (found.shortest, found.longest) == pytest.approx((min(ratios), max(ratios)))
        assert mean_average_precision(tree, points) == pytest.approx(map_by_definition(tree, points))


@given(trees(20), st.sampled_from([2, 10]))
def test_neighbours_are_nearest_at_a_good_scale(tree: Tree, dimension: int):
    scale = Scale.choose(tree.widest, tree.depth, dimension)
    assert mean_average_precision(tree, embed(tree, scale)) == 1.0


def test_short_edges_lose_the_parent_among_siblings():
    tree = tree_from_parents([0] * 200)
    short, long = Scale(2.0, 53, 2), Scale.choose(tree.widest, tree.depth, 2, 53)
    assert mean_average_precision(tree, embed(tree, short)) < 0.2
    assert mean_average_precision(tree, embed(tree, long)) == 1.0


def test_a_sample_is_near_the_whole_and_the_same_each_time():
    generator = np.random.default_rng(1)
    tree = tree_from_parents([0, *(int(generator.integers(0, node)) for node in range(1, 300))])
    scale = Scale(1.2, 53, 3)
    points = embed(tree, scale)
    whole, some = (distortion(tree, points, scale, pairs=n) for n in (10**6, 5000))
    assert some == distortion(tree, points, scale, pairs=5000) and 4900 <= some.pairs <= 5000
    assert some.mean == pytest.approx(whole.mean, rel=0.05)
    assert whole.shortest <= some.shortest and some.longest <= whole.longest
    precision = mean_average_precision(tree, points, sample=299)
    assert precision == pytest.approx(mean_average_precision(tree, points, sample=300), abs=0.02)


def test_the_worst_of_a_sample_has_siblings_in_it():
    parents = [0, *[0] * 2000, *range(1, 2001)]  # of all pairs, one in twelve thousand are next to each other
    tree, scale = tree_from_parents(parents), Scale(6.0, 53, 2)
    points = embed(tree, scale)
    beside = distances(points[1:2], points[2:3])[0, 0] / (2 * scale.length)
    assert distortion(tree, points, scale, pairs=200).shortest == pytest.approx(beside, rel=1e-3)


def test_a_tree_of_one_node():
    tree, scale = tree_from_parents([0]), Scale(1.0, 53, 2)
    points = embed(tree, scale)
    assert mean_average_precision(tree, points) == 1.0
    assert distortion(tree, points, scale).worst == 1.0
