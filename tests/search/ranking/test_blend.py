"""The default fusion, against its formula."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.search.planner import LANE_ORDER
from dowse.search.ranking.fusion import LaneRanking, blend, collect
from dowse.search.ranking.profile import CORPUS, TREE, BlendWeights

A, B, C = range(3)
SHARE = st.floats(0, 1)
BLENDS = st.builds(BlendWeights, SHARE, SHARE, SHARE, SHARE, SHARE) | st.sampled_from(
    [TREE.blend, CORPUS.blend]
)


@st.composite
def some_rankings(draw: st.DrawFn) -> list[LaneRanking]:
    """What lanes found; meaning is always among them, if with nothing."""
    lanes = draw(st.sets(st.sampled_from(LANE_ORDER))) | {"embedding"}
    found = []
    for lane in LANE_ORDER:
        if lane not in lanes:
            continue
        rows = draw(st.lists(st.integers(0, 20), unique=True, max_size=15))
        scores = st.floats(-0.5, 1) if lane == "embedding" else st.floats(0.1, 30)
        values = draw(st.lists(scores, min_size=len(rows), max_size=len(rows)))
        found.append(LaneRanking(lane, rows, sorted(values, reverse=True)))
    return found


def known(rankings: list[LaneRanking]) -> list[int]:
    """Return every row, in the order of the lanes and of their ranks."""
    return list(dict.fromkeys(row for each in rankings for row in each.rows))


@st.composite
def questions(draw: st.DrawFn) -> tuple[list[LaneRanking], dict[int, float], dict[int, float]]:
    """Rankings, with how much of the question the text and the name of some rows have."""
    rankings = draw(some_rankings())
    rows = known(rankings)
    some = st.dictionaries(st.sampled_from(rows), SHARE) if rows else st.just({})
    return rankings, draw(some), draw(some)


@given(questions(), BLENDS, st.integers(0, 60), st.booleans())
def test_scores_are_the_formula(question, weights, terms, own_scale):
    rankings, covered, named = question
    found = blend(rankings, weights, terms, covered, named, is_shipped_encoder=own_scale)
    rows = known(rankings)
    scores = {lane.lane: dict(zip(lane.rows, lane.scores, strict=True)) for lane in rankings}
    cosines = scores["embedding"]
    low, high = min(cosines.values(), default=0.0), max(cosines.values(), default=0.0)
    words = weights.words + weights.long_words * min(1.0, terms / 20)

    def meaning(row: int) -> float:
        if own_scale:
            return cosines.get(row, low)
        if row not in cosines:
            return 0.0
        return 0.28 * ((cosines[row] - low) / (high - low) if high > low else 1.0)

    def share(lane: str, row: int) -> float:
        found = scores.get(lane, {})
        return found[row] / max(found.values()) if row in found else 0.0

    expected = {
        row: meaning(row)
        + words * (share("keyword", row) + share("tfidf", row))
        + weights.coverage * covered.get(row, 0.0)
        - weights.name * named.get(row, 0.0)
        + weights.graph * share("graph", row)
        for row in rows
    }
    assert {each.row: each.score for each in found} == pytest.approx(expected)
    assert [each.score for each in found] == pytest.approx(sorted(expected.values(), reverse=True))


@given(questions(), BLENDS, st.integers(0, 60), st.booleans())
def test_parts_sum_and_say_where_they_come_from(question, weights, terms, own_scale):
    rankings, covered, named = question
    gathered = {each.row: each.lanes for each in collect(rankings)}
    for each in blend(rankings, weights, terms, covered, named, is_shipped_encoder=own_scale):
        assert sum(part.value for part in each.contributions) == each.score
        assert each.lanes == gathered[each.row]
        sources = [part.source for part in each.contributions]
        assert len(set(sources)) == len(sources) and sources[0] == "embedding"
        lanes = {lane.lane for lane in each.lanes}
        assert set(sources) <= {"embedding", "coverage", "name", *lanes}
        assert lanes <= set(sources)
        assert all(part.detail for part in each.contributions)


@given(questions(), BLENDS, st.integers(0, 60), st.integers(1, 25))
def test_only_the_best_are_the_first_of_all(question, weights, terms, most):
    rankings, covered, named = question
    every = blend(rankings, weights, terms, covered, named)
    assert blend(rankings, weights, terms, covered, named, limit=most) == every[:most]


def test_equal_ones_stay_in_the_order_of_the_lanes():
    rankings = [
        LaneRanking("keyword", [C, A], [2.0, 2.0]),
        LaneRanking("embedding", [B, A, C], [0.5, 0.5, 0.5]),
    ]
    assert [each.row for each in blend(rankings, BlendWeights(words=0.3), 2, {}, {})] == [C, A, B]


def test_what_has_no_vector_counts_like_the_lower_quartile_of_the_others():
    words = LaneRanking("keyword", [0, 1, 2, 3, 9], [5.0] * 5)
    rankings = [words, LaneRanking("embedding", [7, 0, 1, 2, 3], [0.9, 0.8, 0.6, 0.5, 0.3])]
    found = {each.row: each for each in blend(rankings, BlendWeights(), 3, {}, {}, without_vector={3, 9})}
    assert found[9].score == 0.5 and found[9].contributions[0].detail == "no vector yet"
    assert found[3].score == 0.3  # encoded for this query
