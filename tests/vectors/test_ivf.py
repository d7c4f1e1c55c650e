"""The approximate search: filters hold, k come back, nearly all are the nearest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.vectors import ivf
from dowse.vectors.exact import exact_search
from dowse.vectors.ivf import ivf_search, load, save
from dowse.vectors.ivf_build import extend, fit, noisy_rows, recall, refresh
from dowse.vectors.matrix import Matrix
from dowse.vectors.writer import matrix_writer
from vectors.builders import build, grouped

ROWS, DIMENSION = 6000, 32


@pytest.fixture(autouse=True, scope="module")
def nothing_is_narrow() -> Iterator[None]:
    """Let small matrices be searched approximately."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ivf, "EXACT_UP_TO", 100)
        yield


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Matrix, ivf.IvfIndex]:
    """A matrix of which the last sixth came after the lists were made."""
    folder = tmp_path_factory.mktemp("world")
    vectors = grouped(ROWS, DIMENSION, 200)
    index = fit(build(folder, vectors[:5000]), lists=50)
    return build(folder, vectors[5000:], first=5000), index


def queries(matrix: Matrix, count: int) -> np.ndarray:
    return noisy_rows(matrix, count, np.random.default_rng(7))


@settings(max_examples=60)
@given(
    k=st.integers(1, 300),
    share=st.sampled_from([0.0, 0.01, 0.04, 0.3, 0.9, 1.0]),
    seed=st.integers(0, 2**32 - 1),
    rescored=st.sampled_from([1, 1500]),
)
def test_filters_hold_and_k_come_back_if_there_are_k(
    world: tuple[Matrix, ivf.IvfIndex], k: int, share: float, seed: int, rescored: int
) -> None:
    matrix, index = world
    random = np.random.default_rng(seed)
    mask = random.random(ROWS) < share
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ivf, "MIN_RERANKED", rescored)
        found = ivf_search(index, matrix, random.standard_normal(DIMENSION), k, mask)
    assert len(found.rows) == min(k, np.count_nonzero(mask)) == len(set(found.rows.tolist()))
    assert mask[found.rows].all()
    assert (np.diff(found.scores) <= 0).all()


def test_scores_are_the_exact_ones(world: tuple[Matrix, ivf.IvfIndex]) -> None:
    matrix, index = world
    for query in queries(matrix, 20):
        found, exact = ivf_search(index, matrix, query, 10), exact_search(matrix, query, ROWS)
        scores = dict(zip(exact.rows.tolist(), exact.scores.tolist(), strict=True))
        assert found.scores.tolist() == [scores[row] for row in found.rows.tolist()]


@pytest.mark.parametrize("share", [1.0, 0.5, 0.1])
def test_nearly_all_of_the_nearest_are_found(world: tuple[Matrix, ivf.IvfIndex], share: float) -> None:
    matrix, index = world
    mask = np.random.default_rng(0).random(ROWS) < share
    found = [
        np.isin(exact_search(matrix, q, 20, mask).rows, ivf_search(index, matrix, q, 20, mask).rows).mean()
        for q in queries(matrix, 60)
    ]
    assert np.mean(found) >= 0.97


def test_recall_is_measured(world: tuple[Matrix, ivf.IvfIndex]) -> None:
    matrix, index = world
    assert 0.95 <= index.recall <= 1
    assert recall(index, matrix, queries(matrix, 30), k=20) >= 0.95
    assert recall(index, matrix, np.empty((0, DIMENSION), np.float32)) == 1
    assert (np.diff(index.probes) >= 0).all()
    assert index.probes[-1] < len(index.centroids)  # else nothing is approximate here


def test_lists_survive_the_disk_and_belong_to_their_matrix(
    world: tuple[Matrix, ivf.IvfIndex], tmp_path: Path
) -> None:
    _, index = world
    matrix = build(tmp_path, grouped(ROWS, DIMENSION, 200))
    assert load(matrix) is None
    save(index, matrix)
    stored = load(matrix)
    query = np.ones(DIMENSION)
    assert (
        ivf_search(stored, matrix, query, 50).rows.tolist()
        == ivf_search(index, matrix, query, 50).rows.tolist()
    )
    assert (stored.recall, stored.fitted) == (index.recall, index.fitted)
    assert load(build(tmp_path / "short", grouped(10, DIMENSION, 2))) is None
    path = tmp_path / "000001.approx"
    whole = path.read_bytes()
    for broken in (b"", b"{}\n", whole[: len(whole) // 2], whole.replace(b'"format": 3', b'"format": 9')):
        path.write_bytes(broken)
        assert load(matrix) is None
    path.write_bytes(whole)
    with matrix_writer(tmp_path, DIMENSION) as writer:
        writer.compact(np.arange(5500))
    assert load(Matrix.open(tmp_path, DIMENSION)) is None


def test_new_rows_go_into_the_lists(world: tuple[Matrix, ivf.IvfIndex]) -> None:
    matrix, index = world
    longer = extend(index, matrix)
    assert sorted(longer.order.tolist()) == list(range(ROWS))
    assert longer.starts[-1] == ROWS
    assert recall(longer, matrix, queries(matrix, 40), k=20) >= 0.95
    fresh = fit(matrix, lists=50)
    assert fresh.fitted == ROWS > longer.fitted


def test_refresh_makes_extends_leaves_and_makes_anew(tmp_path: Path) -> None:
    vectors = grouped(2400, DIMENSION, 40)
    made = refresh(build(tmp_path, vectors[:1000]))
    assert (len(made), made.fitted) == (1000, 1000)
    left = refresh(build(tmp_path, vectors[1000:1040], first=1000))
    assert (len(left), left.fitted) == (1000, 1000)
    longer = refresh(build(tmp_path, vectors[1040:1200], first=1040))
    assert (len(longer), longer.fitted) == (1200, 1000)
    anew = refresh(build(tmp_path, vectors[1200:], first=1200), lambda: vectors[:50])
    assert (len(anew), anew.fitted) == (2400, 2400)
    assert len(load(Matrix.open(tmp_path, DIMENSION))) == 2400
