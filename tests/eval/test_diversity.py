"""Diversity: α-nDCG against its definition written out and against every order there is; distances."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.eval.diversity import (
    ALPHA_NDCG,
    MEANING,
    TREE,
    Diversity,
    alpha_ndcg,
    distinct_results,
    meaning_distance,
    tree_distance,
)
from dowse.eval.metrics import ndcg
from dowse.eval.types import SearchResult

NAMES = [f"d{number}" for number in range(9)]
rankings = st.lists(st.sampled_from(NAMES), unique=True)
aspects_of_names = st.dictionaries(st.sampled_from(NAMES), st.sampled_from("abc"))
cuts = st.sampled_from((1, 2, 5, 10, 20))
alphas = st.sampled_from((0.0, 0.3, 0.5, 1.0))


# α-nDCG


def gain(ranked: Sequence[str], aspects: Mapping[str, set[str]], k: int, alpha: float) -> float:
    """The α-DCG of the paper: judgements J(d, i) of documents and aspects, r counts what was seen before."""
    total = 0.0
    for place, document in enumerate(ranked[:k], 1):
        own = 0.0
        for aspect in aspects.get(document, set()):
            seen = sum(aspect in aspects.get(other, set()) for other in ranked[: place - 1])
            own += (1 - alpha) ** seen
        total += own / math.log2(1 + place)
    return total


def greedy_ideal(aspects: Mapping[str, set[str]], k: int, alpha: float) -> list[str]:
    """The ideal order as the paper makes it: always the document next that gains most."""
    chosen: list[str] = []
    while len(chosen) < min(k, len(aspects)):
        left = [document for document in sorted(aspects) if document not in chosen]
        chosen.append(max(left, key=lambda document: gain([*chosen, document], aspects, k, alpha)))
    return chosen


def written_out(ranked: Sequence[str], aspects: Mapping[str, str], k: int, alpha: float) -> float:
    sets = {document: {aspect} for document, aspect in aspects.items()}
    best = gain(greedy_ideal(sets, k, alpha), sets, k, alpha)
    return gain(ranked, sets, k, alpha) / best if best else 0.0


@given(rankings, aspects_of_names, cuts, alphas)
def test_alpha_ndcg_is_that_of_the_paper(
    ranked: list[str], aspects: dict[str, str], k: int, alpha: float
) -> None:
    assert alpha_ndcg(ranked, aspects, k, alpha) == pytest.approx(written_out(ranked, aspects, k, alpha))


@given(
    st.dictionaries(st.sampled_from(NAMES[:5]), st.sampled_from("abc"), min_size=1),
    st.integers(1, 5),
    alphas,
)
def test_no_order_is_better_than_the_ideal_and_one_is_as_good(
    aspects: dict[str, str], k: int, alpha: float
) -> None:
    found = [alpha_ndcg(order, aspects, k, alpha) for order in permutations(aspects)]
    assert max(found) == pytest.approx(1)


def test_alpha_ndcg_by_hand() -> None:
    aspects = {"a1": "a", "a2": "a", "b1": "b", "gone": "a"}
    ideal = 1 + 1 / math.log2(3) + 0.5 / 2 + 0.25 / math.log2(5)  # a, b, then a for half and for a quarter
    assert alpha_ndcg(["a1", "b1", "a2"], aspects, 10) == pytest.approx(
        (1 + 1 / math.log2(3) + 0.5 / 2) / ideal
    )
    assert alpha_ndcg(["a2", "x", "a1", "b1"], aspects, 10) == pytest.approx(
        (1 + 0.5 / 2 + 1 / math.log2(5)) / ideal
    )
    assert alpha_ndcg(["x", "a1", "b1"], aspects, 2) == pytest.approx(
        (1 / math.log2(3)) / (1 + 1 / math.log2(3))
    )
    assert alpha_ndcg(["x"], aspects, 10) == alpha_ndcg([], aspects, 10) == alpha_ndcg(["x"], {}, 10) == 0


@given(rankings, aspects_of_names, cuts)
def test_where_repetition_costs_nothing_it_is_the_binary_ndcg(
    ranked: list[str], aspects: dict[str, str], k: int
) -> None:
    binary = ndcg(ranked, dict.fromkeys(aspects, 1.0), k)
    assert alpha_ndcg(ranked, aspects, k, alpha=0) == pytest.approx(binary)
    assert alpha_ndcg(ranked, {name: name for name in aspects}, k) == pytest.approx(binary)


# Distances


def test_tree_distance_is_the_mean_over_pairs() -> None:
    one, two, three = ("r", "a", "x.py", "f"), ("r", "a", "x.py", "g"), ("r", "b", "y.py", "h")
    assert tree_distance([one, two]) == 2
    assert tree_distance([one, three]) == 6
    assert tree_distance([one, two, three]) == pytest.approx((2 + 6 + 6) / 3)
    assert tree_distance([one, ("other", "x.py", "f")]) == 7
    assert tree_distance([one]) == tree_distance([]) == 0


def test_meaning_distance_is_the_mean_over_pairs() -> None:
    vectors = np.array([[1, 0], [0, 1], [0, -1]], dtype=np.float32)
    assert meaning_distance(vectors) == pytest.approx((1 + 1 + 2) / 3)
    assert meaning_distance(vectors[:1]) == meaning_distance(vectors[:0]) == 0
    same = np.array([[0.6, 0.8]] * 4, dtype=np.float32)
    assert 0 <= meaning_distance(same) < 1e-6


def test_the_first_ten_are_those_that_take_a_place() -> None:
    found = [
        SearchResult("a.py", "f", 1, 2, "1", "r"),
        SearchResult("a.py", "g", 5, 6, "2", "r"),
        SearchResult("b.py", repo="r"),
    ]
    more = [SearchResult(f"c{number}.py", repo="r") for number in range(20)]
    files = distinct_results([*found, *more], "file")
    assert [each.path for each, _ in files] == ["a.py", "b.py", *(f"c{number}.py" for number in range(8))]
    assert files[0] == (found[0], ("r", "a.py"))
    assert [each for each, _ in distinct_results(found, "file", "results")] == found
    assert [chain for _, chain in distinct_results(found, "symbol")] == [
        ("r", "a.py", "1"),
        ("r", "a.py", "2"),
        ("r", "b.py", ":0"),
    ]


# One answer


def test_an_answer_has_what_can_be_known_of_it() -> None:
    found = [SearchResult("a/x.py", id="1", repo="r"), SearchResult("b/y.py", id="2", repo="r")]
    judged, ranked = {"1": 2.0, "2": 0.0, "3": 1.0}, ["1", "2"]
    aspects = {"1": "a", "3": "a"}
    values = Diversity(aspects, "symbol")(ranked, judged, found)
    assert values == {ALPHA_NDCG: alpha_ndcg(ranked, aspects, 10), TREE: 6}
    assert 0 < values[ALPHA_NDCG] < 1
    nowhere = Diversity({}, "symbol", vectors=lambda _: np.eye(2, dtype=np.float32))
    assert nowhere(ranked, judged, [SearchResult(id="1"), SearchResult(id="2")]) == {MEANING: 1}
    assert nowhere([], judged, []) == {TREE: 0, MEANING: 1}


def test_vectors_are_asked_for_of_the_first_places_alone() -> None:
    asked: list[SearchResult] = []

    def vectors(found: Sequence[SearchResult]) -> np.ndarray:
        asked.extend(found)
        return np.zeros((0, 3), dtype=np.float32)

    found = [
        SearchResult("a.py", "f", id="1"),
        SearchResult("a.py", "g", id="2"),
        SearchResult("b.py", "h", id="3"),
    ]
    Diversity({}, "file", vectors=vectors)([], {}, found)
    assert [each.id for each in asked] == ["1", "3"]
