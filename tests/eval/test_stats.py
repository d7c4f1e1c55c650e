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


def test_a_clear_difference_is_real_and_noise_is_not() -> None:
    rng = np.random.default_rng(5)
    base = rng.random(200)
    better = base + 0.1 + 0.2 * rng.standard_normal(200)
    found = compare(better.tolist(), base.tolist())
    assert found.real and 0 < found.low < found.mean < found.high
    assert found.p <= 0.001
    noise = (base + 0.2 * rng.standard_normal(200)).tolist()
    assert not compare(noise, base.tolist()).real


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


@pytest.mark.parametrize("groups", [[], [[]], [[1.0], []]])
def test_no_values_are_refused(groups: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="no values"):
        bootstrap_macro(groups)
    with pytest.raises(ValueError, match="no values"):
        compare_macro(groups, groups)
