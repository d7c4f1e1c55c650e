"""Merging what several adapted queries found."""

from __future__ import annotations

import pytest

from dowse.search.lanes.adapted_sources import merge

SOURCES = {1: "a", 2: "b", 3: "a", 4: "c"}
PLAIN = [(1, 0.6), (2, 0.5), (3, 0.4), (4, 0.4)]


def test_hits_of_adapted_sources_replace_those_of_the_plain_query() -> None:
    merged = merge(PLAIN, SOURCES, {"a": [(3, 0.56), (9, 0.44)]})
    assert [(row, source) for row, _, source in merged] == [(3, "a"), (2, ""), (9, "a"), (4, "")]


def test_an_adapter_changes_the_order_in_its_source_and_not_its_level() -> None:
    merged = merge(PLAIN, SOURCES, {"a": [(3, 0.99), (9, 0.95), (1, 0.9)]})
    scores = {row: score for row, score, _ in merged}
    assert scores[3] + scores[9] == pytest.approx(0.6 + 0.4)
    assert scores[3] - scores[1] == pytest.approx(0.09) and merged[-1][0] == 4
