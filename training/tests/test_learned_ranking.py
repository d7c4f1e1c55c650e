"""The learned order of candidates, as it is exported and read."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dowse.search.ranking.learned_ranking import FEATURES, predict, read_trees
from dowse_training.learned_ranking import (
    Rows,
    export,
    main,
    mean_reciprocal_rank,
    read_rows,
    train,
    write_model,
)


def made_rows(count: int) -> Rows:
    """Rows in which the second feature decides, with noise."""
    random = np.random.default_rng(0)
    values = random.normal(size=(count, len(FEATURES))).astype(np.float32)
    relevant = values[:, 1] + 0.5 * random.normal(size=count) > 0.7
    return Rows(values, relevant, np.arange(count) // 20, np.full(count, "shop"))


@pytest.mark.parametrize("kind", ["questions", pytest.param("changes", marks=pytest.mark.large)])
def test_the_written_model_predicts_what_the_fitted_one_does(kind, tmp_path):
    rows = made_rows(4_000)
    model = train(rows, kind, seed=0)
    write_model(export(model), tmp_path / "model.json")
    ours = predict(read_trees(tmp_path / "model.json"), rows.values)
    assert ours == pytest.approx(model.predict(rows.values), abs=0.02)


def test_the_model_orders_candidates_better_than_chance():
    rows = made_rows(4_000)
    chance = mean_reciprocal_rank(rows, -np.arange(4_000.0))
    assert mean_reciprocal_rank(rows, train(rows, "questions", seed=0).predict(rows.values)) > chance + 0.2


def test_written_questions_become_rows_of_features(tmp_path, monkeypatch):
    place = tmp_path / "shop"
    place.mkdir()
    (place / "cart.py").write_text(
        "def add(items, item):\n    items.append(item)\n\n\n"
        "def total(items):\n    return sum(item.price for item in items)\n"
    )
    answer = {"path": "cart.py", "start": 5, "end": 6, "name": "total"}
    asked = [
        {"repo": "us/shop", "kind": "concept", "question": "what does everything cost", "answers": [answer]},
        {"repo": "us/shop", "kind": "name", "question": "total", "answers": [answer]},
    ]
    (tmp_path / "asked.jsonl").write_text("".join(json.dumps(each) + "\n" for each in asked))
    command = ["rows", "--questions", str(tmp_path / "asked.jsonl"), "--checkouts", str(tmp_path)]
    monkeypatch.setattr("sys.argv", ["learned_ranking", *command, "--out", str(tmp_path / "rows")])
    main()
    rows = read_rows(tmp_path / "rows")
    assert rows.values.shape == (2, len(FEATURES)) and np.isfinite(rows.values).all()
    assert rows.is_relevant.tolist().count(True) == 1 and set(rows.question) == {0}
