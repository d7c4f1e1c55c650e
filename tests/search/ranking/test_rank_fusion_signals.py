"""Signals after reciprocal rank fusion: they apply, and never decide alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse import Index
from dowse.search.ranking.fusion import LaneRanking, add_coverage, rrf
from dowse.search.ranking.profile import TREE
from dowse.search.ranking.signals import QueryFeatures, profile_for_ranks, rank
from dowse.types import SymbolRow

from helpers import write_tree

TREE_FILES = {
    "src/cart.py": "def total(prices):\n    '''Sum the prices of the cart.'''\n    return sum(prices)\n",
    "tests/test_cart.py": "def test_total():\n    '''Sum the prices of the cart.'''\n    total([1])\n",
    "src/other.py": "def other(prices):\n    return prices[0]\n",
}


@pytest.mark.parametrize("fusion", ["rrf", "weighted", "adaptive", "convex"])
def test_every_fusion_has_signals(tmp_path, fusion):
    with Index.open(write_tree(tmp_path / "tree", TREE_FILES), encoder="none") as index:
        index.update()
        hits = index.search("sum the prices of the cart", lanes="keyword,tfidf", fusion=fusion).hits
    sources = {part.source for hit in hits for part in hit.explanation}
    assert {"signal.file", "signal.test"} <= sources
    assert hits[0].symbol.path == "src/cart.py"
    for hit in hits:
        assert sum(part.value for part in hit.explanation) == pytest.approx(hit.score)


def _row(number: int, path: str) -> SymbolRow:
    place = (number, number)
    return SymbolRow(number, str(number), "", path, "python", "", "function", "f", "f", *place, "f()", number)


@given(st.integers(3, 60), st.data())
def test_a_signal_is_a_share_of_the_range_of_scores(count, data):
    """The best of both lanes stays before the last one, whichever file is called what the query says."""
    named = data.draw(st.integers(1, count - 1))
    rows = [_row(n, "cart.py" if n == named else f"x{n}.py") for n in range(count)]
    lanes = [LaneRanking(lane, range(count), range(count, 0, -1)) for lane in ("keyword", "embedding")]
    fused = rrf(lanes)
    only_file = replace(profile_for_ranks(TREE), coherence=0.0, header=0.0, saturation=1.0)
    ranked = rank(rows, [each.contributions for each in fused], QueryFeatures(frozenset(["cart"])), only_file)
    span = fused[0].score - fused[-1].score
    scores = {hit.row.row: hit.score for hit in ranked}
    assert scores[named] - fused[named].score == pytest.approx(only_file.file * span)
    assert scores[0] > scores[count - 1]


def test_coverage_is_a_share_of_the_range_too():
    fused = rrf([LaneRanking("keyword", (1, 2, 3), (3.0, 2.0, 1.0))])
    first, last = fused[0].score, fused[-1].score
    covered = add_coverage(fused, {3: 1.0, 1: 0.5}, 3.0)
    assert [each.row for each in covered] == [3, 1, 2]
    assert covered[0].score == pytest.approx(last + 3 * (first - last))
    assert add_coverage([], {}, 1.0) == []
