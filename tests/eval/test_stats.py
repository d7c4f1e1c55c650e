"""Intervals that cover what they should, and a test that equals counting every possibility."""

from __future__ import annotations

import itertools
import math
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.eval.stats import Difference, bootstrap, bootstrap_macro, compare_macro

# Values as metrics have them, many of them equal.
shares = st.sampled_from([0.0, 0.1, 0.2, 0.25, 1 / 3, 0.5, 0.63, 1.0])
pairs = st.lists(st.tuples(shares, shares), min_size=1, max_size=9)


def compare(a: list[float], b: list[float]) -> Difference:
    """Compare two rows of one set."""
    return compare_macro([a], [b])


def brute_force(a: list[list[float]], b: list[list[float]]) -> float:
    """Flip every difference in every possible way and count the means as far from 0 as the real one."""
    weighted = [
        (x - y) / len(xs) / len(a) for xs, ys in zip(a, b, strict=True) for x, y in zip(xs, ys, strict=True)
    ]
    seen = abs(math.fsum(weighted))
    flips = list(itertools.product((1, -1), repeat=len(weighted)))
    far = sum(
        abs(math.fsum(s * w for s, w in zip(signs, weighted, strict=True))) >= seen - 1e-9 for signs in flips
    )
    return far / len(flips)


@given(pairs)
def test_p_is_exact_for_few_cases(values: list[tuple[float, float]]) -> None:
    a, b = map(list, zip(*values, strict=True))
    found = compare(a, b)
    assert found.p == pytest.approx(brute_force([a], [b]))
    assert found.mean == pytest.approx(np.mean(a) - np.mean(b))
    assert found.real == (found.p < 0.05)


@given(st.lists(st.lists(st.tuples(shares, shares), min_size=1, max_size=3), min_size=1, max_size=3))
def test_p_of_groups_is_exact_for_few_cases(groups: list[list[tuple[float, float]]]) -> None:
    a = [[one for one, _ in group] for group in groups]
    b = [[other for _, other in group] for group in groups]
    found = compare_macro(a, b)
    assert found.p == pytest.approx(brute_force(a, b))
    assert found.mean == pytest.approx(np.mean([np.mean(x) - np.mean(y) for x, y in zip(a, b, strict=True)]))


def test_cases_without_a_difference_do_not_count_as_many() -> None:
    """Among 500 equal cases, 8 that differ are still counted exactly."""
    a, b = [1.0] * 8 + [0.5] * 500, [0.0] * 8 + [0.5] * 500
    assert compare(a, b).p == 2 / 2**8
    assert compare(a[:5], b[:5]).p == 2 / 2**5  # five cases can't be convincing


def test_sampled_p_is_near_the_exact_one() -> None:
    """16 cases are sampled; what they should give is counted."""
    draw = random.Random(3)
    for _ in range(5):
        a = [draw.random() for _ in range(16)]
        b = [x - draw.uniform(-0.4, 0.6) for x in a]
        differences = np.array(a) - np.array(b)
        signs = 1 - 2 * (np.arange(2**16)[:, None] >> np.arange(16) & 1)
        exact = np.mean(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-12)
        assert compare(a, b).p == pytest.approx(exact, abs=0.02)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=40))
def test_both_directions_say_the_same(values: list[tuple[float, float]]) -> None:
    a, b = map(list, zip(*values, strict=True))
    there, back = compare(a, b), compare(b, a)
    assert (there.p, there.real) == (back.p, back.real)
    assert (there.mean, there.low, there.high) == pytest.approx(
        (-back.mean, -back.high, -back.low), abs=1e-12
    )


@given(st.lists(shares, min_size=1, max_size=60))
def test_equal_lists_do_not_differ(values: list[float]) -> None:
    assert compare(values, list(values)) == (0.0, 0.0, 0.0, 1.0, False)


def test_rounding_is_no_difference() -> None:
    a = [0.1 + 0.2] * 30
    assert compare(a, [0.3] * 30) == (0.0, 0.0, 0.0, 1.0, False)


def test_a_clear_difference_is_real_and_noise_is_not() -> None:
    rng = np.random.default_rng(5)
    base = rng.random(200)
    better = base + 0.1 + 0.2 * rng.standard_normal(200)
    found = compare(better.tolist(), base.tolist())
    assert found.real and 0 < found.low < found.mean < found.high
    assert found.p <= 0.001
    noise = (base + 0.2 * rng.standard_normal(200)).tolist()
    assert not compare(noise, base.tolist()).real


def test_noise_is_called_real_as_seldom_as_promised() -> None:
    rng = np.random.default_rng(8)
    called = 0
    for _ in range(400):
        a, b = rng.random((2, 12)).round(1).tolist()
        called += compare(a, b).real
    assert called / 400 < 0.08


@pytest.mark.parametrize("size", [30, 120])
def test_intervals_cover_the_true_mean_as_often_as_they_say(size: int) -> None:
    """Reciprocal ranks of 1, 1/2, 1/3 … or none: skewed and lumpy, as metrics are."""
    values, chances = np.array([1, 1 / 2, 1 / 3, 1 / 10, 0]), [0.4, 0.15, 0.1, 0.15, 0.2]
    true = float(values @ chances)
    rng = np.random.default_rng(2)
    covered = {0.95: 0, 0.5: 0}
    for _ in range(400):
        sample = rng.choice(values, size, p=chances).tolist()
        for level in covered:
            low, high = bootstrap(sample, level=level, rounds=400)
            covered[level] += low <= true <= high
    assert 0.91 <= covered[0.95] / 400 <= 0.98
    assert 0.43 <= covered[0.5] / 400 <= 0.57


def test_intervals_of_means_of_means_cover_too() -> None:
    """A small group of wide values weighs as much as a large one of narrow ones."""
    rng = np.random.default_rng(4)
    covered = 0
    for _ in range(400):
        groups = [rng.beta(0.5, 0.5, 25).tolist(), rng.beta(20, 5, 200).tolist()]
        low, high = bootstrap_macro(groups, rounds=400)
        covered += low <= (0.5 + 0.8) / 2 <= high
    assert 0.91 <= covered / 400 <= 0.98


def test_groups_weigh_the_same_however_large() -> None:
    found = compare_macro([[1.0], [0.0] * 9], [[0.0], [0.0] * 9])
    assert found.mean == 0.5
    assert (found.low, found.high) == (0.5, 0.5)
    assert bootstrap_macro([[1.0], [0.0] * 9]) == (0.5, 0.5)


def test_intervals_narrow_with_more_cases_and_widen_with_the_level() -> None:
    rng = np.random.default_rng(0)
    values = rng.random(400).tolist()

    def width(found: tuple[float, float]) -> float:
        return found[1] - found[0]

    assert width(bootstrap(values)) < width(bootstrap(values[:100]))
    assert width(bootstrap(values, level=0.5)) < width(bootstrap(values, level=0.99))


def test_the_same_values_give_the_same_answer_in_every_process() -> None:
    program = (
        "from dowse.eval.stats import bootstrap, compare_macro\n"
        "a = [i % 7 / 7 for i in range(100)]; b = [i % 5 / 5 for i in range(100)]\n"
        "print(bootstrap(a), compare_macro([a], [b]))"
    )
    runs = {subprocess.run([sys.executable, "-c", program], capture_output=True).stdout for _ in range(2)}
    a, b = [i % 7 / 7 for i in range(100)], [i % 5 / 5 for i in range(100)]
    assert runs == {f"{bootstrap(a)} {compare(a, b)}\n".encode()}
    assert bootstrap(a, seed=1) != bootstrap(a)


def test_many_values_are_resampled_in_pieces() -> None:
    """More than fit into one piece: the pieces are all used and are not all the same."""
    low, high = bootstrap([float(at % 2) for at in range(200_000)], rounds=40)
    assert 0.49 < low < 0.5 < high < 0.51


def test_one_value_is_its_own_interval() -> None:
    assert bootstrap([0.25]) == (0.25, 0.25)


@pytest.mark.parametrize("groups", [[], [[]], [[1.0], []]])
def test_no_values_are_refused(groups: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="no values"):
        bootstrap_macro(groups)
    with pytest.raises(ValueError, match="no values"):
        compare_macro(groups, groups)


def test_unpaired_values_are_refused() -> None:
    with pytest.raises(ValueError, match="same cases"):
        compare([1.0, 0.0], [1.0])
    with pytest.raises(ValueError, match="same cases"):
        compare_macro([[1.0]], [[1.0], [0.0]])


def test_answers_are_plain_numbers() -> None:
    """They go into JSON."""
    found = compare([1.0, 0.0, 1.0], [0.0, 0.0, 0.5])
    assert [type(value) for value in found] == [float, float, float, float, bool]
    assert [type(value) for value in bootstrap([1.0, 0.0])] == [float, float]
