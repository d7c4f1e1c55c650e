"""The rows of a comparison: what their names mean, and where each can be run."""

from __future__ import annotations

import pytest

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


def names(ways: list[Configuration]) -> list[str]:
    return [each.name for each in ways]


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


@pytest.mark.parametrize("name", ["auto+mmr+cluster", "keyword+cluster+expand+cluster:euclidean"])
def test_results_are_diversified_by_one_method(name: str) -> None:
    with pytest.raises(EvalError, match=r"with several methods; keep one of \+(mmr|cluster), \+cluster"):
        parse_configuration(name)


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
