"""Fusion: known answers, and what holds for any rankings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.search.planner import LANE_ORDER
from dowse.search.ranking.fusion import (
    FusedCandidate,
    LaneRanking,
    collect,
    convex,
    intersection,
    normalise,
    rrf,
)

A, B, C, D, E, F, G, H = range(8)


def ranking(lane: str, rows: Sequence[int]) -> LaneRanking:
    """Return a lane that found rows, each a little worse than the one before."""
    return LaneRanking(lane, rows, [1 / (1 + place) for place in range(len(rows))])


EXAMPLE = [
    ranking("keyword", [A, B, C, D]),
    ranking("embedding", [B, A, E, F]),
    ranking("graph", [A, G, B, H]),
]


@st.composite
def some_rankings(draw: st.DrawFn, min_lanes: int = 0) -> list[LaneRanking]:
    """Rankings of some lanes in their fixed order; rows overlap, scores fall and may be equal."""
    lanes = draw(st.lists(st.sampled_from(LANE_ORDER), unique=True, min_size=min_lanes).map(sorted_lanes))
    found = []
    for lane in lanes:
        rows = draw(st.lists(st.integers(0, 30), unique=True, max_size=25))
        # What a lane found shares a word or an edge; a cosine may be anything.
        scores = st.integers(-10, 10) if lane == "embedding" else st.integers(1, 20)
        values = draw(st.lists(scores, min_size=len(rows), max_size=len(rows)))
        found.append(LaneRanking(lane, rows, [value / 10 for value in sorted(values, reverse=True)]))
    return found


def sorted_lanes(lanes: Sequence[str]) -> list[str]:
    return sorted(lanes, key=LANE_ORDER.index)


def rows(found: Sequence[FusedCandidate]) -> list[int]:
    return [each.row for each in found]


WEIGHTS = st.fixed_dictionaries({lane: st.floats(0.1, 5) for lane in LANE_ORDER})


# Reciprocal ranks


def test_the_textbook_example():
    found = rrf(EXAMPLE)
    scores = {each.row: round(each.score, 4) for each in found}
    assert (scores[A], scores[B], scores[G]) == (0.0489, 0.0484, 0.0161)
    # C and E are third each, D, F and H fourth: the lane that comes first in the fixed order wins.
    assert rows(found) == [A, B, G, C, E, D, F, H]


@given(some_rankings(), WEIGHTS)
def test_rrf_is_its_formula(rankings, weights):
    found = rrf(rankings, weights)
    for each in found:
        expected = sum(
            weights[lane.lane] / (60 + 1 + list(lane.rows).index(each.row))
            for lane in rankings
            if each.row in lane.rows
        )
        assert each.score == pytest.approx(expected)


# What holds for all of them

FUSIONS = {
    "rrf": rrf,
    "weighted": lambda rankings: rrf(rankings, {"keyword": 1.0, "embedding": 3.0, "graph": 0.5}),
    "convex": lambda rankings: convex(rankings, {"keyword": 1.0, "embedding": 3.0, "graph": 0.5}),
    "intersection": lambda rankings: intersection(rankings) if rankings else [],
}
ALL = pytest.mark.parametrize("fuse", FUSIONS.values(), ids=FUSIONS)


@ALL
@given(rankings=some_rankings())
def test_each_is_there_once_best_first_and_its_parts_sum_to_its_score(fuse, rankings):
    found = fuse(rankings)
    known = {row for each in rankings for row in each.rows}
    assert len(set(rows(found))) == len(found) and set(rows(found)) <= known
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    for each in found:
        assert sum(part.value for part in each.contributions) == each.score
        assert all(part.source in LANE_ORDER for part in each.contributions)
        for lane in each.lanes:
            (its,) = (ranking for ranking in rankings if ranking.lane == lane.lane)
            assert its.rows[lane.rank - 1] == each.row and its.scores[lane.rank - 1] == lane.score
            assert 0 <= lane.normalised <= 1
        assert [lane.lane for lane in each.lanes] == [its.lane for its in rankings if each.row in its.rows]


@pytest.mark.parametrize("fuse", [FUSIONS[name] for name in ("rrf", "weighted", "convex")])
@given(rankings=some_rankings())
def test_nothing_is_lost_and_ties_stay_in_the_order_of_the_lanes(fuse, rankings):
    found = fuse(rankings)
    first_seen = list(dict.fromkeys(row for each in rankings for row in each.rows))
    assert sorted(rows(found)) == sorted(first_seen)
    for better, worse in pairwise(found):
        if better.score == worse.score:
            assert first_seen.index(better.row) < first_seen.index(worse.row)


@ALL
def test_nothing_found(fuse):
    assert fuse([ranking(lane, []) for lane in LANE_ORDER]) == []
    assert fuse([ranking("embedding", [])]) == []


@ALL
@pytest.mark.parametrize("lane", LANE_ORDER)
def test_one_lane_keeps_its_order(fuse, lane):
    assert rows(fuse([ranking(lane, [C, A, B])])) == [C, A, B]


# Convex


@given(some_rankings(min_lanes=1), WEIGHTS)
def test_a_convex_sum_lies_between_nought_and_one(rankings, weights):
    total = sum(weights[each.lane] for each in rankings)
    for each in convex(rankings, weights):
        assert -1e-12 <= each.score <= 1 + 1e-12
        expected = sum(weights[lane.lane] * lane.normalised for lane in each.lanes) / total
        assert each.score == pytest.approx(expected)


# Normalising


def test_cosines_lie_between_last_and_first_and_others_are_shares_of_the_best():
    assert normalise(LaneRanking("embedding", [A, B, C], [0.9, 0.7, 0.5])) == pytest.approx([1, 0.5, 0])
    assert normalise(LaneRanking("keyword", [A, B], [8.0, 2.0])) == [1, 0.25]
    assert normalise(LaneRanking("graph", [A, B], [0.5, 0.5])) == [1, 1]
    assert normalise(LaneRanking("embedding", [A, B], [0.4, 0.4])) == [1, 1]
    assert normalise(LaneRanking("embedding", [A], [-0.3])) == [1]
    assert normalise(LaneRanking("keyword", [], [])) == []


# Intersection


def test_what_all_found_comes_first_in_the_order_of_meaning():
    found = intersection([ranking("keyword", [A, B, C]), ranking("embedding", [D, C, A])])
    assert rows(found) == [C, A, D]
    details = [part.detail for each in found for part in each.contributions]
    assert details == ["found by keyword and embedding"] * 2 + ["filled up from embedding"]
    assert [each.score for each in found] == pytest.approx([1, 2 / 3, 1 / 3])


@given(some_rankings(min_lanes=1))
def test_an_intersection_is_what_it_says(rankings):
    guide = next((each for each in rankings if each.lane == "embedding"), rankings[0])
    found = rows(intersection(rankings))
    # Words and meaning decide; the graph only where there is no meaning.
    judges = [each for each in rankings if each.lane != "graph" or guide.lane != "embedding"]
    common = set(guide.rows).intersection(*(each.rows for each in judges))
    agreed = [row for row in guide.rows if row in common]
    others = [row for row in guide.rows if row not in common]
    assert found == agreed + others[: max(0, 10 - len(agreed))]


# Gathering


def test_details_of_lanes_stay_with_their_rows():
    found = collect(
        [LaneRanking("graph", [A, B], [1.0, 0.5], ["calls x", "uses x"]), ranking("keyword", [B])]
    )
    assert [(each.row, [lane.detail for lane in each.lanes]) for each in found] == [
        (A, ["calls x"]),
        (B, ["uses x", ""]),
    ]


@given(some_rankings(), st.sets(st.integers(0, 30)))
def test_gathering_only_some(rankings, only):
    assert collect(rankings, only) == [each for each in collect(rankings) if each.row in only]
