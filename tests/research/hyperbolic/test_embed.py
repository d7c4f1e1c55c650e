"""Trees as points: every edge has its length, decimals agree with floats and go on where those fail."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.research.hyperbolic import embed as module
from dowse.research.hyperbolic.embed import embed, place_children, recenter, to_floats
from dowse.research.hyperbolic.poincare import distance, distances
from dowse.research.hyperbolic.scale import Scale
from dowse.research.hyperbolic.shape import Tree, tree_from_parents
from research.hyperbolic.embedding_quality import distortion
from research.hyperbolic.trees import spine, trees

dimensions = st.sampled_from([2, 3, 5, 10])


def edges(tree: Tree, points: np.ndarray) -> np.ndarray:
    return distance(points[1:], points[tree.parents[1:]])


def scale_of(tree: Tree, dimension: int, digits: int) -> Scale:
    return Scale.choose(tree.widest, tree.depth, dimension, digits)


@settings(max_examples=50)
@given(trees(), dimensions)
def test_every_edge_has_the_length_of_the_scale(tree: Tree, dimension: int):
    short = Scale(1.5, 53, dimension)
    floats = embed(tree, short)
    assert (floats[0] == 0).all() and (np.linalg.norm(floats, axis=1) < 1).all()
    near = tree.depths[1:] <= 10  # deeper than these digits carry, rounding shows
    assert edges(tree, floats)[near] == pytest.approx(1.5, rel=1e-5)
    scale = scale_of(tree, dimension, 200)
    assert edges(tree, embed(tree, scale)) == pytest.approx(scale.length, rel=1e-2)


@settings(max_examples=50)
@given(trees(12), dimensions)
def test_decimals_and_floats_agree_where_floats_do(tree: Tree, dimension: int):
    floats = embed(tree, Scale(1.0, 53, dimension))
    decimals = embed(tree, Scale(1.0, 200, dimension))
    assert isinstance(decimals.flat[0], Decimal)
    assert to_floats(decimals) == pytest.approx(floats, abs=1e-9)
    assert distances(decimals, decimals) == pytest.approx(distances(floats, floats), abs=1e-4)


@settings(max_examples=50)
@given(trees(12), dimensions, st.data())
def test_seen_from_elsewhere_distances_are_the_same(tree: Tree, dimension: int, data: st.DataObject):
    centre = data.draw(st.integers(0, len(tree) - 1))
    for digits in (53, 120):
        points = embed(tree, Scale(0.7, digits, dimension))
        seen = recenter(points, points[centre])
        assert to_floats(seen)[centre] == pytest.approx(np.zeros(dimension), abs=1e-12)
        assert distances(seen, seen) == pytest.approx(distances(points, points), abs=1e-6)


@pytest.mark.parametrize(("dimension", "digits"), [(2, 53), (10, 53), (2, 300)])
def test_children_placed_later_lie_where_the_whole_tree_has_them(
    dimension: int, digits: int, monkeypatch: pytest.MonkeyPatch
):
    generator = np.random.default_rng(3)
    tree = tree_from_parents([0, *(int(generator.integers(0, node)) for node in range(1, 150))])
    scale = scale_of(tree, dimension, digits)
    points = embed(tree, scale)
    children = np.arange(1, len(tree))
    above = tree.parents[children]
    placed = place_children(
        points[above], points[tree.parents[above]], tree.slots[children], tree.degrees[above], scale
    )
    assert (placed == points[1:]).all()  # to the last digit: what did not move is known by that
    monkeypatch.setattr(module, "BATCH", 7)
    assert (embed(tree, scale) == points).all()


HARD = [spine(30, 3, 1), spine(9, 60, 0), spine(9, 60, 30), tree_from_parents([0] * 300), spine(15, 9, 8)]


def kept_scale(tree: Tree, dimension: int, wanted: float) -> Scale:
    """As if the tree were so deep that floats are taken only where they carry the distortion."""
    return Scale.choose(tree.widest, max(tree.depth, 40), dimension, distortion=wanted)


@pytest.mark.parametrize(("dimension", "wanted"), [(2, 2.0), (3, 1.5), (10, 2.0)])
@pytest.mark.parametrize("tree", HARD, ids=lambda tree: f"{tree.widest}-wide-{tree.depth}-deep")
def test_decimals_keep_the_wanted_distortion(tree: Tree, dimension: int, wanted: float):
    scale = kept_scale(tree, dimension, wanted)
    assert scale.decimal
    assert distortion(tree, embed(tree, scale), scale, pairs=500).worst <= wanted


@settings(max_examples=30)
@given(trees(14), dimensions, st.floats(1.05, 5))
def test_no_tree_comes_out_shorter_than_wanted(tree: Tree, dimension: int, wanted: float):
    scale = kept_scale(tree, dimension, wanted)
    found = distortion(tree, embed(tree, scale), scale)
    assert found.worst <= wanted * 1.001 and found.longest <= 1.001


@pytest.mark.parametrize("tree", [spine(12, 60, 0), spine(60, 3, 0)])
def test_floats_in_the_disk_fail_where_decimals_do_not(tree: Tree):
    coarse, fine = scale_of(tree, 2, 53), scale_of(tree, 2, 0)
    assert fine.decimal
    spoilt, kept = (distortion(tree, embed(tree, scale), scale, pairs=2000) for scale in (coarse, fine))
    assert kept.worst <= 2 < spoilt.worst
    assert kept.mean < spoilt.mean / 2


@pytest.mark.parametrize("dimension", [3, 10])
def test_decimals_have_no_more_places_than_asked(dimension: int):
    tree = spine(30, 3, 2)
    scale = scale_of(tree, dimension, 200)
    points = embed(tree, scale)
    for found in (points, recenter(points, points[7])):
        assert min(value.as_tuple().exponent for value in found.flat) >= -scale.decimal_digits


def test_far_points_stay_inside_as_floats():
    scale = Scale(40.0, 400, 2)
    points = embed(spine(3, 2, 0), scale)
    floats = to_floats(points)
    assert (np.linalg.norm(floats, axis=1) < 1).all() and np.isfinite(distances(floats, floats)).all()
    far = distance(floats, np.zeros(2))
    assert far[1] == pytest.approx(far[2]) and far[1] < far[3] < far[5]
    assert math.isclose(far[3] / far[1], distance(points[3], points[0]) / 40.0, rel_tol=1e-3)
