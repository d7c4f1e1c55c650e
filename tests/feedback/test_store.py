"""The file of choices: what is kept, what is forgotten, and what happens when it can't be read."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from dowse.config import data_folder, feedback_file
from dowse.errors import DowseError
from dowse.feedback import store as store_module
from dowse.feedback.events import Event, normalise_query
from dowse.feedback.store import FeedbackDamaged, FeedbackStore


@pytest.fixture
def store(tmp_path):
    with closing(FeedbackStore(tmp_path / "data" / "feedback.sqlite")) as opened:
        yield opened


def test_nothing_is_written_before_a_choice(store):
    assert not store.exists
    assert (store.counts(), list(store.events()), store.reset()) == ([], [], 0)
    assert (store.query_id("x"), store.queries_sharing(["x"], 5), store.query_events([1])) == (None, [], [])
    assert not store.path.parent.exists()


def test_a_choice_is_kept_as_it_was_made(store):
    kept = store.record(Event("Parse  the header?", " id-1", "click", "ann ", 3, 1_700_000_000.5))
    assert kept == Event("Parse the header?", "id-1", "click", "ann", 3, 1_700_000_000.5)
    assert list(store.events()) == [kept]
    assert store.path.parent.stat().st_mode & 0o077 == 0, "what one searches for is nobody else's business"


def test_counts_join_wordings_that_differ_in_nothing(store):
    for query, kind, visitor in (
        ("parse header", "click", "ann"),
        ("Parse Header?", "copy", "ben"),
        (" parse\theader ", "up", "ben"),
        ("parse header!", "down", "cid"),
    ):
        store.record(Event(query, "s", kind, visitor))
    store.record(Event("other", "t", "open", "ann"))
    (first, second) = store.counts()
    assert first[:6] == ("parse header", "s", 3, 1, 1, 3)
    assert second[:6] == ("other", "t", 1, 0, 0, 1)
    assert store.counts("PARSE HEADER") == [first]
    assert store.counts(limit=1) == [first]
    assert [event.kind for event in store.events("parse header", limit=2)] == ["down", "up"]


def test_forgetting_by_question_symbol_and_visitor(store):
    for query in ("one", "two"):
        for symbol in ("s", "t"):
            for visitor in ("ann", "ben"):
                store.record(Event(query, symbol, "click", visitor))
    assert store.reset("One?", symbol="s", visitor="ann") == 1
    assert store.reset("one", symbol="s", visitor="ann") == 0
    assert store.reset(symbol="t") == 4
    assert store.reset("one") == 1
    assert store.query_id("one") is None
    assert store.reset("unknown") == 0
    assert store.reset() == 2
    assert (store.counts(), store.queries_sharing(["two"], 5)) == ([], [])


@pytest.mark.parametrize(
    ("event", "tells"),
    [
        (Event("q", "s", "stare", "ann"), "click, copy, open, up, down"),
        (Event(" ", "s", "click", "ann"), "`query` is empty"),
        (Event("q", "", "click", "ann"), "`symbol` is empty"),
        (Event("q", "s", "click", " "), "`visitor` is empty"),
        (Event("q" * 2_001, "s", "click", "ann"), "at most 2,000"),
        (Event("q\0", "s", "click", "ann"), "`query`"),
        (Event("q", "s", "click", "a" * 101), "at most 100"),
        (Event("q", "s", "click", "ann", -1), "`rank`"),
        (Event("q", "s", "click", "ann", 2**70), "`rank`"),
        (Event("q", "s", "click", "ann", 1, float("nan")), "`time`"),
        (Event("q", "s", "click", "ann", 1, float("inf")), "`time`"),
    ],
)
def test_what_is_no_choice_is_refused_with_a_reason(store, event, tells):
    with pytest.raises(DowseError) as raised:
        store.record(event)
    assert tells in str(raised.value)
    assert not store.exists


def test_repetitions_are_kept_up_to_a_bound(store):
    for _ in range(store_module.MAX_REPEATS + 5):
        store.record(Event("q", "s", "click", "ann"))
    assert store.counts()[0].chosen == store_module.MAX_REPEATS


def test_a_visitor_pushes_out_only_own_choices(store, monkeypatch):
    monkeypatch.setattr(store_module, "MAX_VISITOR_EVENTS", 20)
    store.record(Event("honest question", "s", "up", "ann"))
    for number in range(50):
        store.record(Event(f"flood {number}", "t", "up", "eve"))
    assert len(list(store.events())) == 21
    assert store.counts("honest question")[0].up == 1
    assert store.query_id("flood 0") is None and store.query_id("flood 49") is not None


def test_the_oldest_go_when_there_are_too_many(store, monkeypatch):
    monkeypatch.setattr(store_module, "MAX_EVENTS", 10)
    for number in range(15):
        store.record(Event(f"q{number}", "s", "click", f"visitor {number}"))
    assert [event.query for event in store.events()] == [f"q{n}" for n in range(14, 4, -1)]


def test_threads_and_stores_write_at_once(store):
    def record(number: int) -> None:
        with closing(FeedbackStore(store.path)) as other:
            for each in (store, other):
                each.record(Event(f"question {number % 3}", "s", "click", f"visitor {number}"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(record, range(24)))
    assert sum(count.chosen for count in store.counts()) == 48
    assert len(store.counts()) == 3


def test_a_damaged_file_is_set_aside_and_another_begun(store):
    calls = (store.counts, store.reset, lambda: store.record(Event("q", "s", "click", "ann")))
    for number, call in enumerate((*calls, *calls[:2]), 1):
        store.path.parent.mkdir(exist_ok=True)
        store.path.write_bytes(b"no database at all, but long enough to look at" * 40)
        with pytest.raises(FeedbackDamaged, match=rf"kept as .*\.damaged-{number}"):
            call()
        assert not store.exists
    assert store.record(Event("q", "s", "click", "ann")).query == "q"
    kept = {path.name.rpartition("-")[2] for path in store.path.parent.glob("*.damaged-*")}
    assert kept == {"3", "4", "5"}  # the newest


@pytest.mark.parametrize("damage", ["cut", "no text"])
def test_a_file_that_is_damaged_in_part_is_set_aside(store, damage):
    for number in range(40):
        store.record(Event(f"question {number}", "s", "click", "ann"))
    store.close()
    data = store.path.read_bytes()
    other = data[:-5000] if damage == "cut" else data.replace(b"question 7", b"quest\xffon 7")
    store.path.write_bytes(other)
    with pytest.raises(FeedbackDamaged, match="kept as"):
        store.queries_sharing(["question", "7"], 50)


def test_every_place_has_a_file_of_its_own_in_the_users_data(tmp_path, monkeypatch):
    monkeypatch.setenv("DOWSE_DATA_DIR", str(tmp_path / "data"))
    assert data_folder() == tmp_path / "data"
    files = {feedback_file(Path(place)) for place in ("/a/x", "/b/x", "/a/y")}
    assert len(files) == 3 and {file.parent for file in files} == {tmp_path / "data" / "feedback"}
    (tmp_path / "x").mkdir()
    assert FeedbackStore.open(tmp_path / "x" / ".." / "x").path == feedback_file((tmp_path / "x").resolve())
    monkeypatch.delenv("DOWSE_DATA_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert sys.platform != "linux" or data_folder() == tmp_path / "xdg" / "dowse"


@pytest.mark.parametrize(
    ("one", "other"),
    [("Parse it", "parse  it?"), ("e\u0301t\xe9", "\xe9te\u0301"), ("how?!", "how"), ("?", "?")],
)
def test_what_makes_no_other_question(one, other):
    assert normalise_query(one) == normalise_query(other) != ""


@pytest.mark.parametrize(("one", "other"), [("a b", "b a"), ("get_user", "get user"), ("a -b", "a b")])
def test_what_makes_another_question(one, other):
    assert normalise_query(one) != normalise_query(other)
