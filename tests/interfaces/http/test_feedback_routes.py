"""Choices over HTTP: recorded, counted, shown in the answer, forgotten."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dowse import Index
from dowse.services.web.options import ServeOptions
from interfaces.http.running import Running, running

QUESTION = "who cleans the rooms"


@pytest.fixture
def run(inn: Index) -> Iterator[Running]:
    with running([inn]) as run:
        yield run
        inn.feedback.reset()


def choose(run: Running, symbol: str, kind: str = "click", visitor: str = "ann", status: int = 201) -> dict:
    return run.post(
        "feedback",
        {"query": QUESTION, "symbol": symbol, "kind": kind, "rank": 3, "visitor": visitor, "index": "inn"},
        status,
    )


def test_feedback_boosts_and_explains_hits(run: Running) -> None:
    before = run.get("search", q=QUESTION)["hits"]
    last = before[-1]
    assert len(before) > 2
    for visitor in ("ann", "bob", "eve"):
        assert choose(run, last["id"], visitor=visitor)["visitor"] == visitor
    first = run.get("search", q=QUESTION)["hits"][0]
    assert first["id"] == last["id"]
    reason = next(part for part in first["explanation"] if part["source"].startswith("feedback"))
    assert "chosen 3 times" in reason["detail"]
    assert sum(part["value"] for part in first["explanation"]) == pytest.approx(first["score"], abs=1e-4)
    assert run.get("search", q=QUESTION, feedback=False)["hits"] == before


def test_feedback_is_listed_and_deleted(run: Running) -> None:
    symbol = run.get("search", q="sweep")["hits"][0]
    choose(run, symbol["id"])
    choose(run, symbol["id"], "down", "bob")
    listed = run.get("feedback")
    assert listed["enabled"] and listed["total"] == 1
    [count] = listed["chosen"]
    assert (count["query"], count["name"], count["chosen"], count["down"], count["visitors"]) == (
        *(QUESTION, symbol["qualified_name"], 1, 1, 2),
    )
    assert run.get("suggest", q="who cl")["suggestions"][0]["kind"] == "query"
    removed = run.client.delete("/api/v1/feedback", params={"visitor": "bob"})
    assert removed.json() == {"removed": 1}
    assert run.client.delete("/api/v1/feedback", params={"query": QUESTION}).json() == {"removed": 1}
    assert run.get("feedback")["total"] == 0
    assert {way["kind"] for way in run.get("suggest", q="who cl")["suggestions"]} <= {"name"}


def test_invalid_feedback_is_rejected(run: Running) -> None:
    choose(run, "0123456789abcdef", status=404)
    choose(run, "x", "stare", status=422)
    run.post("feedback", {"query": "", "symbol": "x", "kind": "click", "visitor": "v"}, 422)
    assert run.get("feedback")["total"] == 0


def test_feedback_can_be_turned_off(inn: Index) -> None:
    with running([inn], ServeOptions(feedback=False)) as run:
        symbol = run.get("search", q="sweep")["hits"][0]
        assert choose(run, symbol["id"], status=409)["type"].endswith("feedback-off")
        assert not run.get("feedback")["enabled"] and not run.get("status")["feedback"]


def test_of_several_indexes_one_is_named(server: Running) -> None:
    server.post("feedback", {"query": "q", "symbol": "x", "kind": "click", "visitor": "v"}, 400)
