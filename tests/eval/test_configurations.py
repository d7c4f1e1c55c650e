"""The rows of a comparison: what their names mean, and where each can be run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.config import FUSIONS
from dowse.errors import EvalError
from dowse.eval.configurations import (
    COMPARED,
    Configuration,
    parse_configuration,
    runnable,
)

BASES = ["auto", "keyword", "tfidf", "embedding", "graph", "hybrid", "lanes", *FUSIONS[1:]]
BASES += ["tfidf-intersection"]
METHODS = ["mmr", "cluster", "sample", "cluster:euclidean", "sample:spectral", "sample:meaning"]
SWITCHES = ["expand", "rerank", *METHODS]


def names(ways: list[Configuration]) -> list[str]:
    return [each.name for each in ways]


@pytest.mark.parametrize("switch", ["", *SWITCHES])
@pytest.mark.parametrize("base", BASES)
def test_every_name_is_a_way(base: str, switch: str) -> None:
    name = f"{base}+{switch}".strip("+")
    found = parse_configuration(name)
    assert found.name == name
    assert ("rerank" in found.options) is (switch == "rerank")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("auto", {"mode": "auto"}),
        ("rrf", {"mode": "hybrid", "fusion": "rrf"}),
        ("lanes", {"lanes": "keyword,embedding,graph"}),
        ("keyword+expand+rerank", {"mode": "keyword", "expand": True, "rerank": True}),
        ("auto+rerank", {"mode": "auto", "rerank": True}),
        ("hybrid+mmr", {"mode": "hybrid", "diversify": "mmr"}),
        ("keyword+cluster", {"mode": "keyword", "diversify": "cluster"}),
        (
            "auto+sample:spectral",
            {"mode": "auto", "diversify": "sample", "clustering": "spectral"},
        ),
    ],
)
def test_what_names_mean(name: str, options: dict[str, object]) -> None:
    assert parse_configuration(name).options == options


@pytest.mark.parametrize(
    "name",
    [
        *("", "+", "auto+", "Auto", "regex", "auto+rerun", "+expand", "expand", "auto expand", "fusion"),
        *("auto+diversify", "auto+mmr:spectral", "auto+cluster:", "auto+cluster:kmeans"),
    ],
)
def test_other_names_are_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(EvalError, match=r"no configuration is called .* auto, keyword.*\+expand"):
        parse_configuration(name)


def at_most_one_spread(switches: list[str]) -> bool:
    return len(set(switches) & set(METHODS)) <= 1


@given(st.sampled_from(BASES), st.lists(st.sampled_from(SWITCHES), max_size=6).filter(at_most_one_spread))
def test_a_switch_counts_once(base: str, switches: list[str]) -> None:
    found = parse_configuration("+".join((base, *switches)))
    assert found.name == "+".join((base, *dict.fromkeys(switches)))
    assert found == parse_configuration(found.name)


@pytest.mark.parametrize("name", ["auto+mmr+cluster", "keyword+cluster+expand+cluster:euclidean"])
def test_results_are_diversified_by_one_method(name: str) -> None:
    with pytest.raises(EvalError, match=r"with several methods; keep one of \+(mmr|cluster), \+cluster"):
        parse_configuration(name)


def test_the_compared_ways_are_each_lane_both_and_the_default() -> None:
    assert COMPARED == ("keyword", "embedding", "graph", "hybrid", "auto")


@pytest.mark.parametrize(
    ("vectors", "graph", "kept"),
    [
        (True, True, list(COMPARED)),
        (False, True, ["keyword", "graph", "auto"]),
        (True, False, ["keyword", "embedding", "hybrid", "auto"]),
        (False, False, ["keyword", "auto"]),
    ],
)
def test_what_an_index_can_be_asked_in(vectors: bool, graph: bool, kept: list[str]) -> None:
    assert names(runnable(map(parse_configuration, COMPARED), vectors=vectors, graph=graph)) == kept


@pytest.mark.parametrize(
    "name", ["lanes", "auto+mmr", "keyword+mmr", "keyword+cluster:meaning", "rrf", "hybrid+expand"]
)
def test_ways_that_need_vectors(name: str) -> None:
    assert not runnable([parse_configuration(name)], vectors=False, graph=True)


@pytest.mark.parametrize("name", ["keyword+cluster", "auto+sample:spectral"])
def test_places_in_the_tree_need_no_vectors(name: str) -> None:
    assert runnable([parse_configuration(name)], vectors=False, graph=True)


@pytest.mark.parametrize(("name", "left"), [("lanes", 0), ("graph+expand", 0), ("auto+expand", 1)])
def test_ways_in_a_corpus(name: str, left: int) -> None:
    assert len(runnable([parse_configuration(name)], vectors=True, graph=False)) == left
