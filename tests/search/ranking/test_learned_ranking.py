"""The learned order of the first candidates."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dowse import Index
from dowse.search.ranking.learned_ranking import (
    DEPTH,
    FEATURES,
    add_learned_ranking,
    features,
    predict,
    read_trees,
)
from dowse.search.ranking.question_kinds import learned_order
from dowse.search.ranking.signals import QueryFeatures, RankedHit
from dowse.types import Contribution, SymbolRow


def hit(name: str, score: float, row: int = 0) -> RankedHit:
    symbol = SymbolRow(
        row=row,
        file_id=1,
        path="shop/cart.py",
        name=name,
        qualified_name=f"Cart.{name}",
        kind="method",
        start_line=1 + 10 * row,
        end_line=9 + 10 * row,
        signature="",
        language="python",
        key="",
        repo="",
        role="",
    )
    return RankedHit(
        symbol, score, [Contribution("embedding", 0.5 * score), Contribution("keyword", 0.5 * score)]
    )


def test_a_tree_is_followed_to_its_leaf(tmp_path):
    name = FEATURES[1]
    stored = {
        "depth": 2,
        "trees": [[[name, 0.5, 1, 2], [-1.0], [name, 2.0, 3, 4], [2.0], [3.0]], [[0.25]]],
    }
    (tmp_path / "m.json").write_text(json.dumps(stored))
    trees = read_trees(tmp_path / "m.json")
    rows = np.zeros((4, len(FEATURES)), np.float32)
    rows[:, 1] = [0.5, 0.6, 2.0, 2.1]
    assert predict(trees, rows) == pytest.approx([-0.75, 2.25, 2.25, 3.25])


def test_contributions_add_up_and_only_the_first_move():
    hits = [hit(f"method_{number}", 1 - number / 100, number) for number in range(DEPTH + 3)]
    query = QueryFeatures(frozenset({"method"}))
    kinds = {"change": 0.8, "description": 0.1, "topic": 0.1}
    ranked = add_learned_ranking(hits, query, kinds, "changes", 0.8)
    assert {each.row.row for each in ranked[:DEPTH]} == set(range(DEPTH))
    assert [each.row.row for each in ranked[DEPTH:]] == [DEPTH, DEPTH + 1, DEPTH + 2]
    for each in ranked:
        assert each.score == pytest.approx(sum(part.value for part in each.contributions))
        assert any(part.source == "model" for part in each.contributions) == (each.row.row < DEPTH)
        assert all(part.value >= 0 for part in each.contributions)
    scores = [each.score for each in ranked[:DEPTH]]
    assert scores == sorted(scores, reverse=True)


def test_a_name_that_the_question_has_is_a_feature():
    values = features([hit("remove_item", 1.0), hit("total", 0.9, 1)], QueryFeatures(frozenset({"item"})), {})
    name, scope = FEATURES.index("name"), FEATURES.index("scope")
    assert values[0, name] == 0.5 and values[1, name] == 0 and values[:, scope].tolist() == [0, 0]
    assert values.shape == (2, len(FEATURES)) and np.isfinite(values).all()


def test_changes_and_questions_of_many_words_are_ordered_by_it():
    asked, kinds = "who notices that the peer has gone away?", {"change": 0.1, "topic": 0.9}
    weights = [learned_order(kinds, asked, terms)[1] for terms in range(30)]
    assert learned_order({"change": 0.8, "description": 0.0, "topic": 0.2}, asked, 2) == ("changes", 0.8)
    assert weights == sorted(weights) and weights[4] == 0 < weights[5] < weights[8] == weights[29]
    assert weights[9] > 10 * learned_order(kinds, "connection handling", 9)[1]  # that is a topic
    assert learned_order({}, asked, 20)[1] == 0  # a name, a stack trace, a question about structure
    assert learned_order({"guide": 1.0}, asked, 20)[1] == 0


def test_only_questions_in_words_are_ordered_by_it(tmp_path):
    (tmp_path / "cart.py").write_text(
        "class Cart:\n"
        "    def add(self, item):\n        self.items.append(item)\n\n"
        "    def total(self):\n        return sum(item.price for item in self.items)\n"
    )
    settings = {"index_dir": str(tmp_path / "index"), "encoder": "small", "threads": 1, "isolation": "never"}
    with Index.open(tmp_path, **settings) as index:
        index.update()
        sources = {
            query: {part.source for found in index.search(query) for part in found.explanation}
            for query in ("Fix the total of an empty cart", "where is the total of a cart", "Cart.total")
        }
    assert ["model" in each for each in sources.values()] == [True, False, False]
