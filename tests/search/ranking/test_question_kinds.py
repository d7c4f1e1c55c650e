"""The kind of a question, and the weights that follow from it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.search.options import SearchRequest
from dowse.search.planner import make_plan
from dowse.search.ranking.profile import CORPUS, TREE
from dowse.search.ranking.question_kinds import KINDS, profile_for_question, question_kinds, user_question


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("how are routes registered", "topic"),
        ("request context handling", "topic"),
        ("parse cookie header", "topic"),
        ("fix crash when the header is empty", "change"),
        ("add support for async views", "change"),
        ("Returns True if the file exists.", "description"),
        ("Return the value of a cookie", "description"),
    ],
)
def test_the_likeliest_kind(text, kind):
    kinds = question_kinds(text)
    assert max(kinds, key=kinds.__getitem__) == kind


@given(st.text(max_size=300))
def test_any_text_has_probabilities(text):
    kinds = question_kinds(text)
    assert set(kinds) == set(KINDS)
    assert sum(kinds.values()) == pytest.approx(1)
    assert min(kinds.values()) >= 0


def test_the_weights_of_a_certain_kind_are_its_own():
    change = profile_for_question(TREE, {"change": 1.0})
    assert change.blend == TREE.kinds["change"].blend
    assert change.blended == TREE.kinds["change"].blended
    assert change.length == TREE.kinds["change"].length
    assert change.candidates == TREE.candidates


def test_weights_lie_between_those_of_the_kinds():
    half = profile_for_question(TREE, {"change": 0.5, "description": 0.0, "topic": 0.5})
    other = TREE.kinds["change"]
    assert half.blend.coverage == pytest.approx((TREE.blend.coverage + other.blend.coverage) / 2)
    assert half.header == pytest.approx((TREE.header + other.header) / 2)


def test_names_structure_and_corpora_have_no_kind():
    assert not make_plan(SearchRequest("getUserName")).question
    assert not make_plan(SearchRequest("what calls parse_order")).question
    assert profile_for_question(CORPUS, {"change": 1.0}) is CORPUS
    assert profile_for_question(TREE, {}) is TREE


def test_questions_in_the_words_of_users():
    assert user_question("what happens if the peer hangs up before my upload is through?") > 0.9
    for other in ("request context handling", "fix crash when empty", "Returns the cookies of a request."):
        assert user_question(other) < 0.1
