"""One deadline for all that a query does: what was cut is noted, what can't be cut is an error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from dowse import Index, deadline
from dowse.deadline import Deadline, time_limit, within
from dowse.errors import Cancelled, TooSlow
from dowse.search.exact import ScanLimits

from helpers import index_tree


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Index:
    files = {f"m{n}.py": f"def spin_{n}(wheel):\n    return spin_{n - 1}(wheel)\n" for n in range(1, 30)}
    return index_tree(tmp_path_factory.mktemp("deadline") / "tree", files, refresh="never")


class Clock:
    """The time, which passes by a second with each look at it, or stands still."""

    def __init__(self) -> None:
        self.now, self.step = 1000.0, 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock()
    # That of dowse alone: event loops of other tests' servers would wait for it.
    fake = SimpleNamespace(**{**vars(time), "monotonic": clock})
    for name, module in list(sys.modules.items()):
        if name.startswith("dowse.") and getattr(module, "time", None) is time:
            monkeypatch.setattr(module, "time", fake)
    yield clock


@pytest.mark.parametrize(
    "query", ["spin wheel", "/spin/", "/[0-9]{4}/", "what calls spin_3", "spin_4", '"wheel"']
)
def test_no_query_outlives_its_deadline(tree: Index, query: str, clock: Clock) -> None:
    clock.step = 100.0
    with pytest.raises(TooSlow, match=r"no answer within|took too long"):
        tree.search(query, k=5)


def test_a_query_whose_client_is_gone_ends(tree: Index) -> None:
    gone = Deadline()
    gone.cancel()
    for query in ("spin wheel", "/spin/", "what calls spin_3"):
        with within(gone), pytest.raises(Cancelled):
            tree.search(query, k=5)
    assert tree.search("spin wheel", k=5).hits


def test_a_pattern_that_runs_out_of_time_gives_what_it_found(tree: Index, clock: Clock) -> None:
    limits = tree.settings.exact_seconds
    clock.step = limits / 20  # some files, not all of them
    answer = tree.search("/spin/", k=3)
    assert len(answer.hits) == 3
    assert ["there was time to search" in note.text for note in answer.notes] == [True]
    with pytest.raises(TooSlow):
        tree.search("/spin/", k=0)  # all lines, or none
    with pytest.raises(TooSlow):
        tree.search("/[0-9]{4}/", k=3)  # nothing found says nothing


def test_steps_that_an_answer_can_do_without_are_left_out(tree: Index, clock: Clock) -> None:
    plain = tree.search("spin wheel", k=5)
    with time_limit(100.0):
        clock.now += 80.0
        answer = tree.search("spin wheel", k=5, expand=True)
    assert [hit.symbol.name for hit in answer] == [hit.symbol.name for hit in plain]
    assert "there was no time for query expansion" in [note.text for note in answer.notes]


def test_a_sooner_deadline_stays(clock: Clock) -> None:
    with time_limit(5.0), time_limit(60.0):
        assert deadline.seconds_left(30.0) == 5.0
        clock.now += 4.0
        assert deadline.is_late() and deadline.seconds_left(30.0) == 1.0
        deadline.check()
        clock.now += 1.0
        with pytest.raises(TooSlow, match="within 5 s"):
            deadline.check()
    deadline.check()
    assert ScanLimits(deadline.optional_until()).until == float("inf")


def test_a_question_for_a_definition_has_neighbours_if_lanes_are_chosen(tree: Index) -> None:
    answer = tree.search("where is spin_3 defined", lanes="keyword,graph")
    assert not any(lane.problem for lane in answer.lanes)
    assert answer.hits[0].symbol.name == "spin_3"
