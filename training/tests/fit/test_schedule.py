"""Learning rates rise, fall and end where they should."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse_training.schedule import SCHEDULES, Clock, learning_rate


@given(st.sampled_from(SCHEDULES), st.floats(0, 1), st.integers(0, 1000))
def test_the_rate_is_never_above_its_peak_nor_nothing(kind, progress, step):
    assert 0 < learning_rate(2.0, kind, progress, step, 40, 0.01) <= 2.0


def test_the_rate_warms_up_and_ends_low():
    assert learning_rate(1.0, "linear", 0.0, 0, 10, 0.02) == pytest.approx(0.1)
    assert learning_rate(1.0, "linear", 0.5, 50, 10, 0.02) == pytest.approx(0.5)
    assert learning_rate(1.0, "linear", 1.0, 99, 10, 0.02) == pytest.approx(0.02)
    assert learning_rate(1.0, "cosine", 0.5, 50, 0, 0.0) == pytest.approx(0.5)
    assert learning_rate(1.0, "constant", 0.9, 50, 10, 0.0) == 1.0


def test_a_clock_of_steps_knows_no_time():
    assert Clock(steps=20).progress(5) == 0.25


def test_a_resumed_clock_counts_the_seconds_before():
    assert Clock(seconds=100.0, before=50.0).progress(3) == pytest.approx(0.5, abs=0.01)
