"""Lanes in this process."""

from __future__ import annotations

import threading

from dowse.errors import DowseError
from dowse.search.lanes.bm25 import keyword_lane
from dowse.search.lanes.jobs import LANES, InlineLanes, Lane, LaneJob
from search.lanes.asking import KEYWORD


def test_results_come_in_the_order_of_the_jobs(reader):
    lanes = InlineLanes(lanes={**LANES, "bad": Lane("search.lanes.faults:raise_error")})
    outcomes = lanes.run(reader, [LaneJob("bad", {}), KEYWORD, LaneJob("nowhere", {})])
    assert [outcome.lane for outcome in outcomes] == ["bad", "keyword", "nowhere"]
    assert [outcome.problem for outcome in outcomes] == [
        "bad: RuntimeError: boom",
        "",
        "nowhere: KeyError: 'nowhere'",
    ]
    assert outcomes[1].result == keyword_lane(reader, **KEYWORD.arguments)


def test_the_encoder_is_made_only_for_who_wants_it(reader):
    asked = []
    lanes = InlineLanes(
        lambda: asked.append(1), {**LANES, "with": Lane("search.lanes.faults:echo", wants_encoder=True)}
    )
    lanes.run(reader, [KEYWORD])
    assert not asked
    (outcome,) = lanes.run(reader, [LaneJob("with", {})])
    assert asked and outcome.problem.startswith("with: TypeError")  # echo does not take one


def test_an_encoder_that_does_not_start_in_time_costs_its_lane_alone(reader):
    started, release = threading.Event(), threading.Event()

    def load():
        started.set()
        release.wait()

    lanes = InlineLanes(load, start_seconds=0.01)
    lanes.warm()
    started.wait()
    late, keyword = lanes.run(reader, [LaneJob("embedding", {"text": "a", "limit": 1}), KEYWORD])
    assert late.problem == "embedding: still starting after 0.01 s" and late.error is None
    assert keyword.result == keyword_lane(reader, **KEYWORD.arguments)
    release.set()


def test_the_error_of_a_start_in_the_background_is_the_lane_s(reader):
    def load():
        raise DowseError("there is no such model")

    lanes = InlineLanes(load)
    lanes.warm()
    (outcome,) = lanes.run(reader, [LaneJob("embedding", {"text": "a", "limit": 1})])
    assert outcome.problem == "embedding: there is no such model"
