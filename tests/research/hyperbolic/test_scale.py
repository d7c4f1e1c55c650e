"""The choice of a scale: floats where they do, decimals where they do not, and steady under small changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dowse.research.hyperbolic.scale import Scale

dimensions = st.sampled_from([2, 3, 5, 10])


@given(st.integers(1, 5000), st.integers(0, 40), dimensions)
def test_small_changes_of_a_tree_keep_its_scale(widest: int, depth: int, dimension: int):
    power = 1 << (widest - 1).bit_length()
    assert Scale.choose(widest, depth, dimension) == Scale.choose(power, depth + depth % 2, dimension)


@given(st.integers(1, 5000), st.integers(1, 40), dimensions, st.integers(20, 400))
def test_more_digits_carry_longer_edges(widest: int, depth: int, dimension: int, digits: int):
    fewer, more = (Scale.choose(widest, depth, dimension, n) for n in (digits, digits + 10))
    assert fewer.digits == digits and more.length > fewer.length
    assert fewer.decimal == (digits > 53)


@given(st.integers(1, 5000), st.integers(1, 60), dimensions)
def test_left_alone_it_takes_floats_or_as_many_digits_as_it_needs(widest: int, depth: int, dimension: int):
    scale = Scale.choose(widest, depth, dimension)
    if scale.decimal:
        assert scale.digits >= scale.length * depth * 1.4426
        finer = Scale.choose(widest, depth, dimension, distortion=1.1)
        assert finer.length > scale.length and finer.digits > scale.digits
    else:
        assert scale == Scale.choose(widest, depth, dimension, 53)


def test_a_ball_does_with_floats_where_a_disk_cannot():
    assert not Scale.choose(1000, 12, 10).decimal
    assert Scale.choose(1000, 12, 2).decimal
    assert Scale.choose(1000, 60, 10).decimal  # too deep for both
    assert not Scale.choose(3, 4, 2).decimal
