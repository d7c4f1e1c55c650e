"""From choices to feedback_boosts: what counts for a question, and what one visitor can't do."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowse.feedback.boosts import feedback_boosts
from dowse.feedback.events import EVENT_KINDS, Event, normalise_query
from dowse.feedback.store import FeedbackStore
from dowse.search.ranking.feedback import MAX_CLIMB_ALONE, feedback_order


@pytest.fixture
def store(tmp_path):
    with closing(FeedbackStore(tmp_path / "feedback.sqlite")) as opened:
        yield opened


def record(store: FeedbackStore, query: str, symbol: str, kind: str = "click", visitor: str = "ann") -> None:
    store.record(Event(query, symbol, kind, visitor))


def order(store: FeedbackStore, query: str, symbols: str) -> str:
    """Return candidates, a letter each, in the order that choices ask for."""
    found = feedback_boosts(store, query)
    known = [found.get(symbol) for symbol in symbols]
    return "".join(symbols[place] for place in feedback_order(known, [1.0] * len(known)))


def test_what_most_visitors_chose_comes_first(store):
    for symbol, visitors in (("d", "xyz"), ("b", "x"), ("e", "xy")):
        for visitor in visitors:
            record(store, "parse header", symbol, visitor=visitor)
    assert order(store, "Parse header?", "abcdef") == "debacf"


def test_many_clicks_of_one_are_less_than_one_each_of_three(store):
    for _ in range(50):
        record(store, "parse header", "b", visitor="eve")
    for visitor in "xyz":
        record(store, "parse header", "c", visitor=visitor)
    assert order(store, "parse header", "abc") == "cba"


def test_votes_against_count_and_can_be_changed(store):
    record(store, "parse header", "b", "click", "ann")
    record(store, "parse header", "b", "down", "ben")
    record(store, "parse header", "c", "click", "cid")
    assert order(store, "parse header", "abcdefgh") == "cadefbgh"
    record(store, "parse header", "b", "up", "ben")
    assert order(store, "parse header", "abcdefgh") == "bcadefgh"


def test_words_tell_what_was_chosen(store):
    for visitor in ("ann", "ben", "ben"):
        record(store, "parse header", "s", visitor=visitor)
    record(store, "parse header", "s", "down", "cid")
    record(store, "parse header", "t")
    record(store, "parse header", "u", "down")
    found = feedback_boosts(store, "parse header")
    assert found["s"].detail == "chosen 3 times and voted down once for this query"
    assert found["t"].detail == "chosen once for this query"
    assert found["u"].detail == "voted down once for this query"
    similar = feedback_boosts(store, "parse the header")
    assert similar["t"].detail == "chosen once for queries like “parse header”"


def test_similar_questions_lift_and_can_be_left_out(store):
    for visitor in ("ann", "ben"):
        record(store, "parse cookie header", "f", "up", visitor)
    assert order(store, "parse a cookie header", "abcdefgh") == "fabcdegh"
    assert feedback_boosts(store, "parse a cookie header", similar=False) == {}
    assert order(store, "write invoice header", "abcdefgh") == "abcdefgh"


def test_rare_words_decide_what_is_similar(store):
    record(store, "get quaternion", "s")
    idf_of = {"quaternion": 8.0}
    assert feedback_boosts(store, "normalise quaternion", idf=lambda term: idf_of.get(term, 1.0))
    assert not feedback_boosts(store, "get name", idf=lambda term: idf_of.get(term, 1.0))


def test_filters_and_patterns_are_not_what_a_question_is_about(store):
    record(store, "parse cookie lang:python path:src/**", "s")
    record(store, 'broken "quote', "t")
    assert feedback_boosts(store, "parse cookie lang:go")["s"].similar == pytest.approx(0.4)
    assert feedback_boosts(store, "broken quote").keys() == {"t"}


WORDS = ("parse", "cookie", "header", "value", "session", "expire")
ASKED = "parse cookie header"
attacks = st.lists(
    st.tuples(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join),
        st.sampled_from("abcdefgh"),
        st.sampled_from(EVENT_KINDS),
    ).filter(lambda event: normalise_query(event[0]) != ASKED),
    max_size=12,
)


@settings(max_examples=40)
@given(attacks)
def test_one_visitor_cannot_push_a_hit_to_the_top_of_a_different_question(events):
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(FeedbackStore(Path(folder) / "feedback.sqlite")) as store,
    ):
        for query, symbol, kind in events:
            record(store, query, symbol, kind, "eve")
        found = order(store, ASKED, "abcdefgh")
    assert found[0] == "a"
    assert all(abs(found.index(each) - n) <= MAX_CLIMB_ALONE for n, each in enumerate("abcdefgh"))
