"""The exact search gives what sorting all cosines would give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.vectors import exact
from dowse.vectors.exact import exact_search
from vectors.builders import build, sorted_cosines


@settings(max_examples=60, deadline=None)
@given(
    count=st.integers(0, 60),
    dimension=st.sampled_from([1, 3, 16, 384]),
    k=st.integers(0, 70),
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(["all", "mask", "rows"]),
    share=st.sampled_from([0.0, 0.1, 0.6, 1.0]),
    distinct=st.integers(1, 60),
)
def test_equals_sorting_everything(
    tmp_path_factory: pytest.TempPathFactory,
    count: int,
    dimension: int,
    k: int,
    seed: int,
    kind: str,
    share: float,
    distinct: int,
) -> None:
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((max(1, distinct), dimension))[random.integers(0, distinct, count)]
    matrix = build(tmp_path_factory.mktemp("m"), vectors)
    query = random.standard_normal(dimension)
    mask = random.random(count) < share
    allowed = {"all": None, "mask": mask, "rows": np.flatnonzero(mask)}[kind]
    found = exact_search(matrix, query, k, allowed)
    rows, scores = sorted_cosines(matrix, query, None if allowed is None else mask)
    assert found.rows.tolist() == rows[:k].tolist()
    assert np.allclose(found.scores, scores[:k], atol=1e-6)


def test_blocks_and_cut_backs_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    matrix = build(tmp_path, random.standard_normal((3000, 24)))
    query = random.standard_normal(24)
    for name, value in (("BLOCK", 100), ("SURPLUS", 2), ("MIN_SURPLUS", 1)):
        monkeypatch.setattr(exact, name, value)
    for mask in (None, random.random(3000) < 0.5, random.random(3000) < 0.1):
        found = exact_search(matrix, query, 50, mask)
        assert found.rows.tolist() == sorted_cosines(matrix, query, mask)[0][:50].tolist()


@pytest.mark.parametrize("count", [0, 1, 1023, 1024, 2500])
def test_both_kernels_give_the_same_whole_numbers(count: int) -> None:
    random = np.random.default_rng(count)
    rows = random.integers(-127, 128, (count, 384), dtype=np.int8)
    query = random.integers(-127, 128, 384, dtype=np.int8)
    expected = rows.astype(np.int64) @ query
    assert np.array_equal(exact.dots(query, rows), expected)
    assert np.array_equal(exact.dots_with_numpy(query, rows), expected)
    bits, sought = rows.view(np.uint8)[:, :48], query.view(np.uint8)[:48]
    differing = np.unpackbits(bits ^ sought, axis=1).sum(axis=1)
    assert np.array_equal(exact.differing_bits(sought, bits), differing)


def test_searching_works_without_the_helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    matrix, query = build(tmp_path, random.standard_normal((500, 40))), random.standard_normal(40)
    expected = exact_search(matrix, query, 20)
    monkeypatch.setattr(exact, "cdist", None)
    found = exact_search(matrix, query, 20)
    assert found.rows.tolist() == expected.rows.tolist()
    assert found.scores.tolist() == expected.scores.tolist()
    bits = random.integers(0, 256, (30, 5), dtype=np.uint8)
    assert exact.differing_bits(bits[3], bits)[3] == 0
