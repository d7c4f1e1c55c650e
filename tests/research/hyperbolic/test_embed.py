"""Trees as points: every edge has its length, whoever places it and wherever it is seen from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.research.hyperbolic import embed as module
from dowse.research.hyperbolic.chains import MAX_DEPTH
from dowse.research.hyperbolic.embed import edge_length, embed, place_children, recenter
from dowse.research.hyperbolic.poincare import distance, distances
from dowse.research.hyperbolic.shape import Tree, tree_from_parents
from research.hyperbolic.trees import trees

dimensions = st.sampled_from([5, 10])


@settings(max_examples=50)
@given(trees(), dimensions)
def test_every_edge_has_its_length(tree: Tree, dimension: int):
    points = embed(tree, 1.5, dimension)
    assert (points[0] == 0).all() and (np.linalg.norm(points, axis=1) < 1).all()
    near = tree.depths[1:] <= 10  # deeper than these digits carry, rounding shows
    assert distance(points[1:], points[tree.parents[1:]])[near] == pytest.approx(1.5, rel=1e-5)


@settings(max_examples=50)
@given(trees(12), dimensions, st.data())
def test_seen_from_elsewhere_distances_are_the_same(tree: Tree, dimension: int, data: st.DataObject):
    centre = data.draw(st.integers(0, len(tree) - 1))
    points = embed(tree, 0.7, dimension)
    seen = recenter(points, points[centre])
    assert seen[centre] == pytest.approx(np.zeros(dimension), abs=1e-12)
    assert distances(seen, seen) == pytest.approx(distances(points, points), abs=1e-6)


def test_children_placed_later_lie_where_the_whole_tree_has_them(monkeypatch: pytest.MonkeyPatch):
    generator = np.random.default_rng(3)
    tree = tree_from_parents([0, *(int(generator.integers(0, node)) for node in range(1, 150))])
    length = edge_length(tree.depth)
    points = embed(tree, length, 10)
    children = np.arange(1, len(tree))
    above = tree.parents[children]
    placed = place_children(
        points[above], points[tree.parents[above]], tree.slots[children], tree.degrees[above], length
    )
    assert (placed == points[1:]).all()  # to the last digit: what did not move is known by that
    monkeypatch.setattr(module, "BATCH", 7)
    assert (embed(tree, length, 10) == points).all()


def test_the_deepest_tree_still_has_separate_points():
    depth = MAX_DEPTH + 1
    length = edge_length(depth)
    assert edge_length(depth - 1) == length > 1
    path = embed(tree_from_parents([0, *range(depth)]), length, 10)
    assert distance(path[1:], path[:-1]) == pytest.approx(length, rel=0.05)
