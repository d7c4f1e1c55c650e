"""Hits of several indexes as one list: an order that holds, whatever was asked for; and their notes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dowse.answer import Answer
from dowse.errors import DowseError
from dowse.json_form import document
from dowse.search.lanes.jobs import MENTION_SCORE
from dowse.services.merge import LOOKAHEAD, IndexResult, PageHit, merge_answers, merge_hits, merge_notes
from dowse.types import Hit, LaneScore, Note, PlanReport, Symbol

# Few values, so that many are the same.
confidences = st.lists(
    st.lists(st.sampled_from([0.1, 0.2, 0.5, 0.8, 0.9]), max_size=40), min_size=2, max_size=3
)


def merged(answers: list[list[float]], depth: int) -> list[tuple[int, int]]:
    """Return the index and the place in it of each hit, in their common order."""
    hits = [
        [PageHit(str(number), hit(at, confidence=value)) for at, value in enumerate(values[:depth])]
        for number, values in enumerate(answers)
    ]
    return [(int(each.index), each.hit.rank) for each in merge_hits(hits, same_scores=True)]


def hit(rank: int, **more: Any) -> Hit:
    symbol = Symbol("id", "", "a.py", "python", "function", "f", "f", 1, 1, "def f()", "", "", "")
    return Hit(rank, 1.0, symbol, **more)


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


MISS = Note("nothing-relevant", "nothing relevant here")
STATE = Note("partly-embedded", "48 % of the symbols are embedded", "`dowse index` finishes it")


def result(
    index: str, *notes: Note, hits: int = 1, kind: str = "prose", lanes: tuple[str, ...] = ("keyword",)
) -> IndexResult:
    scores = tuple(LaneScore(lane, 1, 1.0, 1.0) for lane in lanes)
    found = tuple(hit(rank, lanes=scores) for rank in range(1, hits + 1))
    plan = PlanReport(kind, "", lanes, "")
    return IndexResult(index, Answer("q", "hybrid", found, hits, 1, notes, plan=plan))


def texts(*results: IndexResult) -> list[str]:
    return [note.text for note in merge_notes(results)]


def test_what_one_index_lacks_is_not_said_beside_good_hits_of_another() -> None:
    assert texts(result("inn", MISS), result("bakery")) == []
    assert texts(result("inn", Note("unknown-name", "no symbol is called f")), result("bakery")) == []
    assert texts(result("inn", Note("graph", "2 hops away"), hits=0), result("bakery")) == []
    # What only mentions a symbol does not answer a question about its callers.
    mentions = result("inn", Note("graph", "no callers"), kind="structure")
    assert texts(mentions, result("bakery", kind="structure", lanes=("graph",))) == []
    by_name = replace(mentions.answer.hits[0], lanes=(LaneScore("graph", 1, MENTION_SCORE, 1.0),))
    only_mentions = IndexResult("inn", replace(mentions.answer, hits=(by_name,)))
    assert texts(only_mentions, result("bakery", kind="structure", lanes=("graph",))) == []
    assert texts(mentions, result("bakery", MISS)) == ["inn: no callers", "bakery: nothing relevant here"]


def test_notes_name_their_indexes_and_the_state_of_one_is_always_said() -> None:
    assert texts(result("inn", MISS), result("bakery", MISS)) == ["inn, bakery: nothing relevant here"]
    state = f"inn: {STATE.text}"
    assert texts(result("inn", MISS, STATE), result("bakery")) == [state]
    assert texts(result("inn", MISS, STATE)) == [MISS.text, STATE.text]  # one index needs no name
    failed = IndexResult("mill", None, DowseError("it can't be read"))
    assert texts(result("inn", MISS), result("bakery"), failed) == ["mill is left out: it can't be read"]


def test_a_remedy_is_apart_from_the_text() -> None:
    page = merge_answers("q", [result("inn", STATE)], 0, 10, 1.0)
    assert document(page)["notes"] == [{"code": STATE.code, "text": STATE.text, "remedy": STATE.remedy}]
