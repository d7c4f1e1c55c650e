"""Hits of several indexes as one list: an order that holds, whatever was asked for."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dowse.services.merge import LOOKAHEAD, merge_hits

# Few values, so that many are the same.
confidences = st.lists(
    st.lists(st.sampled_from([0.1, 0.2, 0.5, 0.8, 0.9]), max_size=40), min_size=2, max_size=3
)


def merged(answers: list[list[float]], depth: int) -> list[tuple[int, int]]:
    """Return the index and the place in it of each hit, in their common order."""
    hits: list[list[dict[str, Any]]] = [
        [{"at": (number, at), "confidence": value, "score": 0.0} for at, value in enumerate(values[:depth])]
        for number, values in enumerate(answers)
    ]
    return [hit["at"] for hit in merge_hits(hits, same_scores=True)]


@given(confidences, st.integers(1, 30))
def test_a_page_is_the_same_however_many_hits_were_asked_for(answers: list[list[float]], shown: int) -> None:
    assert merged(answers, shown + LOOKAHEAD)[:shown] == merged(answers, 1_000)[:shown]


@given(confidences)
def test_the_order_within_each_index_stays(answers: list[list[float]]) -> None:
    for number, values in enumerate(answers):
        places = [at for which, at in merged(answers, 1_000) if which == number]
        assert places == list(range(len(values)))


def test_what_an_index_put_first_counts_as_much_as_what_follows_it() -> None:
    """Something chosen before stands first there: that is no reason to bury what is surer than others'."""
    assert merged([[0.1, 0.9], [0.5]], 10) == [(0, 0), (0, 1), (1, 0)]
