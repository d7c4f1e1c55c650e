"""Merging what several adapted queries found."""

from __future__ import annotations

from dowse.search.lanes.adapted_sources import merge

SOURCES = {1: "a", 2: "b", 3: "a", 4: "c"}
PLAIN = [(1, 0.6), (2, 0.5), (3, 0.4), (4, 0.4)]


def test_hits_of_adapted_sources_replace_those_of_the_plain_query() -> None:
    merged = merge(PLAIN, SOURCES, {"a": [(3, 0.7), (9, 0.45)]})
    assert [(row, source) for row, _, source in merged] == [(3, "a"), (2, ""), (9, "a"), (4, "")]


def test_without_adapted_sources_nothing_changes() -> None:
    assert merge(PLAIN, SOURCES, {}) == [(row, score, "") for row, score in PLAIN]


def test_ties_are_ordered_by_row() -> None:
    merged = merge(PLAIN, SOURCES, {"a": [(7, 0.4), (5, 0.4)], "b": [(6, 0.4)]})
    assert [row for row, _, _ in merged] == [4, 5, 6, 7]
