"""The lanes that a command prepares before the index is open are those of the plan."""

from __future__ import annotations

import pytest

from dowse.search.forecast import likely_lanes
from dowse.search.planner import make_plan
from search.requests import request


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "where are expired sessions cleaned up",
        "retry",
        "parse_order",
        "Session.close open_file",
        "how does parse_order work",
        "what calls parse_order",
        "where is parse_order defined",
        "path:src lang:py cookie",
        "lang:nothing of this kind",
    ],
)
def test_lanes_are_those_of_the_plan(text, plain):
    if text.startswith("lang:nothing") and not plain:
        pytest.skip("no such language")
    asked = request(text, plain=plain)
    assert likely_lanes(asked) == make_plan(asked).lanes


@pytest.mark.parametrize("text", ["/def .*price/", '"return x"', "lang:python"])
def test_patterns_and_filters_need_no_meaning(text):
    assert likely_lanes(request(text)) == ("keyword",)


@pytest.mark.parametrize("mode", ["keyword", "tfidf", "embedding", "hybrid", "graph", "symbol"])
def test_a_mode_decides(mode):
    asked = request("where is x_y", mode=mode)
    assert likely_lanes(asked) == make_plan(asked).lanes


def test_lanes_by_name_decide():
    assert likely_lanes(request("parse_order", lanes=("keyword", "embedding"))) == ("keyword", "embedding")
    assert likely_lanes(request("")) == ("keyword", "embedding", "graph")
