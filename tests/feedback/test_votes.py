"""Votes of visitors, and the similarity of queries."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.feedback.boosts import cosine_similarity, pool_votes, visitor_vote
from dowse.feedback.events import EVENT_KINDS

kinds = st.lists(st.sampled_from(EVENT_KINDS), max_size=30)
clicks = st.lists(st.sampled_from(["click", "copy", "open"]), max_size=30)
words = st.sets(st.sampled_from("abcdefgh"))


@given(kinds)
def test_a_visitor_has_one_vote(given_kinds):
    assert -1 <= visitor_vote(given_kinds) <= 1


@given(clicks, st.sampled_from(["click", "copy", "open"]))
def test_every_choice_adds_less_than_the_one_before(before, kind):
    values = [visitor_vote([*before, *[kind] * n]) for n in range(4)]
    first, second, third = (later - earlier for earlier, later in pairwise(values))
    assert first + 1e-9 >= second and second + 1e-9 >= third >= 0


@given(kinds, st.sampled_from(["up", "down"]), clicks)
def test_the_last_thumb_is_the_visitors_word(before, thumb, after):
    assert visitor_vote([*before, thumb, *after]) == (1 if thumb == "up" else -1)


@given(words, words)
def test_likeness_is_a_cosine(a, b):
    worth = {word: 1.0 + n for n, word in enumerate("abcdefgh")}
    found = cosine_similarity(a, b, worth.__getitem__)
    assert found == cosine_similarity(b, a, worth.__getitem__)
    assert 0 <= found <= 1 + 1e-9
    assert (found > 0) == bool(a & b)
    assert not a or cosine_similarity(a, a, worth.__getitem__) == pytest.approx(1)


@given(st.dictionaries(st.text(), st.lists(st.floats(-1, 1), min_size=1, max_size=9), max_size=9))
def test_many_wordings_give_nobody_more_than_one_vote(votes):
    together, others = pool_votes(votes)
    assert abs(together) <= len(votes) + 1e-9
    assert together - others <= 1 + 1e-9
