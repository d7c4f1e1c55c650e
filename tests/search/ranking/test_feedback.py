"""The bounds of feedback, whatever was chosen: nothing is buried, nobody alone decides, scores add up."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dowse.search.ranking.feedback import (
    MARGIN,
    MAX_CANDIDATES,
    MAX_CLIMB,
    MAX_CLIMB_ALONE,
    MAX_SINK,
    MIN_OTHER_VOTES,
    Boost,
    apply_feedback,
    feedback_order,
)
from dowse.search.ranking.signals import RankedHit
from dowse.types import Contribution, SymbolRow

votes = st.floats(0, 50)
similar = st.builds(lambda a, b: Boost(similar=a + b, others=min(a, b)), votes, votes)
lone = st.builds(
    lambda vote, rest: Boost(similar=vote, others=rest),
    st.floats(0, 1),
    st.floats(0, MIN_OTHER_VOTES, exclude_max=True),
)
same = st.builds(lambda vote: Boost(same=vote), st.floats(-30, 30))


def known(boost: st.SearchStrategy[Boost]) -> st.SearchStrategy[list[Boost | None]]:
    return st.lists(st.none() | boost, max_size=40)


def level(boosts: list[Boost | None]) -> list[float]:
    """Scores that leave all to the other bounds."""
    return [1.0] * len(boosts)


def ranking(count: int) -> list[RankedHit]:
    """Candidates `0`, `1`, … with falling scores."""
    return [
        RankedHit(
            SymbolRow(n, str(n), "", "a.py", "python", "", "function", "f", "f", 1, 1, "", 1),
            float(count - n),
            [Contribution("keyword", float(count - n))],
        )
        for n in range(count)
    ]


@given(known(similar | same))
def test_candidates_only_change_places(boosts):
    assert sorted(feedback_order(boosts, level(boosts))) == list(range(len(boosts)))


@given(known(similar))
def test_similar_questions_move_nothing_further_than_the_bound(boosts):
    for place, n in enumerate(feedback_order(boosts, level(boosts))):
        assert n - place <= (MAX_CLIMB if boosts[n] else 0), "climbed too far"
        assert place - n <= MAX_CLIMB, "was buried"


@given(known(similar | same), st.lists(st.floats(-9, 9), min_size=40, max_size=40))
def test_similar_questions_pass_nothing_that_is_clearly_better(boosts, values):
    scores = sorted(values[: len(boosts)], reverse=True)
    order = feedback_order(boosts, scores)
    place = {n: at for at, n in enumerate(order)}
    margin = MARGIN * max(map(abs, scores), default=0.0)
    for n, boost in enumerate(boosts):
        for better in range(n):
            if place[n] < place[better] and scores[better] - scores[n] > margin:
                votes_for = boost is not None and boost.same > 0
                votes_against = boosts[better] is not None and boosts[better].same < 0
                assert votes_for or votes_against


@given(known(lone))
def test_one_visitor_alone_never_makes_a_hit_the_first(boosts):
    assume(boosts)
    order = feedback_order(boosts, level(boosts))
    assert order[0] == 0
    assert all(abs(n - place) <= MAX_CLIMB_ALONE for place, n in enumerate(order))


@given(known(similar | same))
def test_what_was_chosen_for_this_question_comes_first_and_the_most_chosen_before_the_rest(boosts):
    chosen = [n for n, boost in enumerate(boosts) if boost and boost.same > 0]
    first = feedback_order(boosts, level(boosts))[: len(chosen)]
    assert sorted(first) == chosen
    assert first == sorted(first, key=lambda n: (-boosts[n].same, n))


@given(known(st.builds(lambda vote: Boost(same=-vote), st.floats(0.01, 30))))
def test_votes_against_sink_a_hit_by_a_page_at_most(boosts):
    order = feedback_order(boosts, level(boosts))
    assert all(place - n <= MAX_SINK for place, n in enumerate(order))
    plain = [n for n in order if boosts[n] is None]
    assert plain == sorted(plain)


@given(known(similar | same), st.integers(0, 150))
def test_scores_add_up_and_fall(boosts, count):
    ranked = ranking(count)
    by_id = {str(n): boost for n, boost in enumerate(boosts) if boost}
    found = apply_feedback(ranked, by_id)
    assert [hit.score for hit in found] == [hit.score for hit in ranked]
    for hit in found:
        assert sum(part.value for part in hit.contributions) == pytest.approx(hit.score)
    deep = [n for n in range(MAX_CANDIDATES, count) if (boost := by_id.get(str(n))) and boost.same > 0]
    start = max((n + 1 for n in deep), default=MAX_CANDIDATES)
    assert [hit.row.key for hit in found[start:]] == [hit.row.key for hit in ranked[start:]]


def test_only_what_moved_or_was_chosen_says_so():
    found = apply_feedback(ranking(5), {"2": Boost(same=1.0, detail="chosen once for this question")})
    assert [hit.row.key for hit in found] == ["2", "0", "1", "3", "4"]
    assert found[0].contributions[-1] == Contribution(
        "feedback", 2.0, "chosen once for this question, was rank 3"
    )
    assert [len(hit.contributions) for hit in found] == [2, 2, 2, 1, 1]
    assert found[1].contributions[-1].value == -1.0


def test_what_was_chosen_for_the_same_query_comes_first_from_any_rank():
    chosen = str(MAX_CANDIDATES + 39)
    found = apply_feedback(ranking(MAX_CANDIDATES + 50), {chosen: Boost(same=0.4)})
    others = [str(n) for n in range(MAX_CANDIDATES + 50) if str(n) != chosen]
    assert [hit.row.key for hit in found] == [chosen, *others]
