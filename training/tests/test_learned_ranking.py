"""The learned order of candidates, as it is exported and read."""

from __future__ import annotations

import numpy as np
import pytest

from dowse.search.ranking.learned_ranking import FEATURES, predict, read_trees
from dowse_training.learned_ranking import Rows, export, mean_reciprocal_rank, train, write_model


def made_rows(count: int) -> Rows:
    """Rows in which the second feature decides, with noise."""
    random = np.random.default_rng(0)
    values = random.normal(size=(count, len(FEATURES))).astype(np.float32)
    relevant = values[:, 1] + 0.5 * random.normal(size=count) > 0.7
    return Rows(values, relevant, np.arange(count) // 20, np.full(count, "shop"))


def test_the_written_model_predicts_what_the_fitted_one_does(tmp_path):
    rows = made_rows(4_000)
    model = train(rows, seed=0)
    write_model(export(model), tmp_path / "model.json")
    ours = predict(read_trees(tmp_path / "model.json"), rows.values)
    assert ours == pytest.approx(model.predict(rows.values), abs=0.02)


def test_the_model_orders_candidates_better_than_chance():
    rows = made_rows(4_000)
    chance = mean_reciprocal_rank(rows, -np.arange(4_000.0))
    assert mean_reciprocal_rank(rows, train(rows, seed=0).predict(rows.values)) > chance + 0.2
