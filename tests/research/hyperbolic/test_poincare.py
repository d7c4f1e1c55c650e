"""Hyperbolic geometry against its definitions, computed with many digits, and against its own laws."""

from __future__ import annotations

import decimal
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.research.hyperbolic.poincare import (
    clip_to_ball,
    distance,
    exp_map,
    log_map,
    mobius_add,
)

coordinates = st.lists(st.floats(-1, 1), min_size=3, max_size=3)


def decimals(points: np.ndarray) -> np.ndarray:
    return np.frompyfunc(Decimal, 1, 1)(points)


@st.composite
def points(draw: st.DrawFn, most: float = 0.995) -> np.ndarray:
    drawn = np.array(draw(coordinates))
    return drawn / max(1.0, np.linalg.norm(drawn)) * draw(st.floats(0, most))


def by_definition(x: np.ndarray, y: np.ndarray) -> float:
    """The formula as it is written, with so many digits that nothing near 1 is lost."""
    with decimal.localcontext(decimal.Context(prec=150)):
        x, y = decimals(x), decimals(y)
        ratio = 1 + 2 * ((x - y) ** 2).sum() / ((1 - (x * x).sum()) * (1 - (y * y).sum()))
        return float((ratio + (ratio * ratio - 1).sqrt()).ln())


@given(points(), points())
def test_distance_is_its_definition(x: np.ndarray, y: np.ndarray):
    expected = by_definition(x, y)
    assert distance(x, y) == pytest.approx(expected, rel=1e-9, abs=1e-13)


@given(points(), points(), points())
def test_a_translation_keeps_distances(by: np.ndarray, x: np.ndarray, y: np.ndarray):
    assert distance(mobius_add(by, x), mobius_add(by, y)) == pytest.approx(distance(x, y), rel=1e-6, abs=1e-9)


@given(points(), points())
def test_tangents_lead_to_points_and_have_their_distance(base: np.ndarray, x: np.ndarray):
    tangent = log_map(base, x)
    assert exp_map(base, tangent) == pytest.approx(x, abs=1e-9)
    length = 2 * np.linalg.norm(tangent) / (1 - base @ base)
    assert length == pytest.approx(distance(base, x), rel=1e-9, abs=1e-12)


def test_what_rounding_pushed_out_comes_back():
    out = np.array([[1.0, 0.0], [3.0, 4.0], [0.1, 0.2]])
    found = clip_to_ball(out)
    assert (np.linalg.norm(found, axis=1) < 1).all() and (found[2] == out[2]).all()
    assert np.isfinite(distance(out[0], -out[0])) and distance(out[0], -out[0]) > 50
    far = exp_map(np.zeros(2), np.array([500.0, 0.0]))
    assert np.linalg.norm(far) < 1 and np.isfinite(log_map(np.zeros(2), far)).all()
